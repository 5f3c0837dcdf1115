#include "restart/ckpt/kinds/files.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <memory>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

namespace restart::ckpt::kinds {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::UniqueFd;

template <class T> using Maybe = Expected<std::optional<T>>;

// Also for a path through a link or a file.
bool is_absent(int number) {
    return number == ENOENT || number == ENOTDIR || number == ELOOP;
}

Error cannot_look(const std::string& path, int number) {
    return base::system_error(base::printable(path, 300), number).within("could not look");
}

std::string last_part(const std::string& name) {
    return name.substr(name.rfind('/') + 1); // npos + 1 is 0
}

// File systems on which every change passes through this kernel.
bool is_local_magic(decltype(std::declval<struct statfs>().f_type) type) {
    constexpr std::array<unsigned long, 8> local{EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,      BTRFS_SUPER_MAGIC,
                                                 TMPFS_MAGIC,      F2FS_SUPER_MAGIC,     0x2fc12fc1 /* ZFS */,
                                                 RAMFS_MAGIC,      OVERLAYFS_SUPER_MAGIC};
    return std::find(local.begin(), local.end(), static_cast<unsigned long>(type)) != local.end();
}

base::Time to_time(const statx_timestamp& stamp) {
    return base::Time(std::chrono::duration_cast<base::Duration>(std::chrono::seconds(stamp.tv_sec) +
                                                                 std::chrono::nanoseconds(stamp.tv_nsec)));
}

Entry to_entry(const struct statx& info) {
    Entry entry;
    entry.type = S_ISREG(info.stx_mode)   ? Entry::Type::file
                 : S_ISDIR(info.stx_mode) ? Entry::Type::folder
                 : S_ISLNK(info.stx_mode) ? Entry::Type::link
                                          : Entry::Type::other;
    entry.bytes = info.stx_size;
    entry.inode = info.stx_ino;
    entry.modified = to_time(info.stx_mtime);
    if ((info.stx_mask & STATX_BTIME) != 0) entry.born = to_time(info.stx_btime);
    return entry;
}

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

} // namespace

Expected<void> Files::count() {
    if (left_ == 0)
        return Error{Code::unavailable,
                     fmt::format("{}: after {} questions to its file system the rest was not "
                                 "looked at",
                                 base::printable(dir_, 300), looked_)};
    --left_;
    ++looked_;
    return {};
}

Maybe<std::vector<std::string>> Files::names(const std::string& folder) {
    if (auto ok = count(); !ok) return std::move(ok).error();
    auto found = read_names(folder);
    if (found && *found) std::sort((*found)->begin(), (*found)->end());
    return found;
}

Maybe<Entry> Files::entry(const std::string& name) {
    if (auto ok = count(); !ok) return std::move(ok).error();
    return read_entry(name);
}

Maybe<std::string> Files::text(const std::string& file) {
    if (auto ok = count(); !ok) return std::move(ok).error();
    return read_text(file);
}

Maybe<std::string> Files::target(const std::string& link) {
    if (auto ok = count(); !ok) return std::move(ok).error();
    return read_target(link);
}

Writers Files::writers(const std::string& file) {
    return count() ? read_writers(file) : Writers::unknown;
}

Expected<std::unique_ptr<FilesOnDisk>> FilesOnDisk::open(const std::string& dir, unsigned bound) {
    UniqueFd root(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) {
        if (errno == ENOENT)
            return Error{Code::not_found, base::printable(dir, 300) + ": no such checkpoint directory"};
        return cannot_look(dir, errno);
    }
    struct statfs about {};
    const bool local = ::fstatfs(root.get(), &about) == 0 && is_local_magic(about.f_type);
    return std::unique_ptr<FilesOnDisk>(new FilesOnDisk(dir, bound, std::move(root), local));
}

// The descriptor of the folder that contains `name`, cached until another folder is needed: a thousand shards
// of a checkpoint are in one.
Maybe<int> FilesOnDisk::folder_of(const std::string& name) {
    const auto slash = name.rfind('/');
    if (slash == std::string::npos) return std::optional(root_.get());
    const auto folder = name.substr(0, slash);
    if (!kept_fd_ || kept_ != folder) {
        int failed = 0;
        kept_fd_ = open_beneath(root_.get(), folder, failed);
        kept_ = folder;
        if (!kept_fd_ && is_absent(failed)) return std::optional<int>();
        if (!kept_fd_) return cannot_look(path(folder), failed);
    }
    return std::optional(kept_fd_.get());
}

Maybe<std::vector<std::string>> FilesOnDisk::read_names(const std::string& folder) {
    int failed = 0;
    // "/.": only a folder is opened.
    auto fd = open_beneath(root_.get(), folder.empty() ? "." : folder + "/.", failed);
    if (!fd && is_absent(failed)) return std::optional<std::vector<std::string>>();
    if (!fd) return cannot_look(path(folder), failed);
    const std::unique_ptr<DIR, CloseFolder> opened(::fdopendir(fd.get()));
    if (!opened) return cannot_look(path(folder), errno);
    static_cast<void>(fd.release());
    std::vector<std::string> names;
    for (errno = 0; const auto* entry = ::readdir(opened.get()); errno = 0) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (names.size() == most_names)
            return Error{Code::unavailable, fmt::format("{}: has more than {} names: keep checkpoints in a "
                                                        "directory of their own",
                                                        base::printable(path(folder), 300), most_names)};
        names.emplace_back(name);
    }
    if (errno != 0) return cannot_look(path(folder), errno);
    return std::optional(std::move(names));
}

Maybe<Entry> FilesOnDisk::read_entry(const std::string& name) {
    const auto folder = folder_of(name);
    if (!folder) return folder.error();
    if (!*folder) return std::optional<Entry>();
    struct statx info {};
    if (::statx(**folder, last_part(name).c_str(),
                AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name.empty() ? AT_EMPTY_PATH : 0),
                STATX_BASIC_STATS | STATX_BTIME, &info) == 0)
        return std::optional(to_entry(info));
    if (is_absent(errno)) return std::optional<Entry>();
    return cannot_look(path(name), errno);
}

Maybe<std::string> FilesOnDisk::read_text(const std::string& file) {
    int failed = 0;
    const auto fd = open_beneath(root_.get(), file, failed);
    if (!fd && is_absent(failed)) return std::optional<std::string>();
    if (!fd) return cannot_look(path(file), failed);
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return cannot_look(path(file), errno);
    const auto unreadable = [&](std::string_view why) {
        return Error{Code::input, fmt::format("{}: {}", base::printable(path(file), 300), why)};
    };
    if (!S_ISREG(info.st_mode)) return unreadable("is not a regular file");
    std::string text(most_pointer_bytes + 1, '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const auto n = ::read(fd.get(), text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return cannot_look(path(file), errno);
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    if (done > most_pointer_bytes)
        return unreadable(fmt::format("is longer than {} bytes: it names no checkpoint", most_pointer_bytes));
    text.resize(done);
    return std::optional(std::move(text));
}

Maybe<std::string> FilesOnDisk::read_target(const std::string& link) {
    const auto folder = folder_of(link);
    if (!folder) return folder.error();
    if (!*folder) return std::optional<std::string>();
    std::string target(most_pointer_bytes, '\0');
    const auto n = ::readlinkat(**folder, last_part(link).c_str(), target.data(), target.size());
    if (n < 0 && (is_absent(errno) || errno == EINVAL)) return std::optional<std::string>();
    if (n < 0) return cannot_look(path(link), errno);
    target.resize(static_cast<std::size_t>(n));
    return std::optional(std::move(target));
}

Writers FilesOnDisk::read_writers(const std::string& file) {
    if (!local_) return Writers::unknown;
    int failed = 0;
    const auto fd = open_beneath(root_.get(), file, failed);
    return fd ? writers_of(fd.get()) : Writers::unknown;
}

} // namespace restart::ckpt::kinds
