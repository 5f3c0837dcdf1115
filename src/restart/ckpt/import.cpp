#include "restart/ckpt/import.hpp"

#include "base/unique_fd.hpp"
#include "restart/ckpt/name.hpp"
#include "restart/ckpt/safe_open.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace restart::ckpt {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Error;
using base::Expected;

// Copies the rest of `from`, by read and write.
bool copy_through_memory(int from, int to) {
    std::vector<char> block(std::size_t{1} << 20);
    for (;;) {
        const auto n = ::read(from, block.data(), block.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        for (std::string_view left(block.data(), static_cast<std::size_t>(n)); !left.empty();) {
            const auto written = ::write(to, left.data(), left.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) return false;
            left.remove_prefix(static_cast<std::size_t>(written));
        }
    }
}

// Copies in the kernel, which shares blocks if the file system can. False: see errno. (std::filesystem's
// copy_file reports a full disk as EIO.)
bool copy(int from, int to) {
    constexpr std::size_t at_once = std::size_t{1} << 30;
    for (bool copied = false;; copied = true) {
        const auto n = ::copy_file_range(from, nullptr, to, nullptr, at_once, 0);
        if (n > 0 || (n < 0 && errno == EINTR)) continue;
        // Nothing copied: between file systems, or from one such as /proc that reports size 0.
        const bool unable =
            n == 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
        return copied || !unable ? n == 0 : copy_through_memory(from, to);
    }
}

base::UniqueFd open_source(const fs::path& path) {
    return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

Expected<void> copy_to_new(int source, const fs::path& from, const fs::path& to, mode_t mode) {
    const base::UniqueFd target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777));
    if (!target) return base::system_error(to.string(), errno);
    if (!copy(source, target.get()))
        return base::system_error(fmt::format("{} -> {}", from.string(), to.string()), errno);
    return {};
}

// Whether `path` can be removed. If not, it would remain a second name of the checkpoint's file.
bool removable(const fs::path& path, uid_t owner) {
    const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0 ||
        ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
        return false;
    const auto me = ::geteuid();
    return (info.st_mode & S_ISVTX) == 0 || me == 0 || me == owner || me == info.st_uid;
}

// True: linked, and the file has only these two names.
bool link_alone(int source, const struct stat& info, const fs::path& from, const fs::path& to) {
    if (info.st_nlink != 1 || !removable(from, info.st_uid) || writers_of(source) != Writers::none)
        return false;
    if (::link(from.c_str(), to.c_str()) != 0) return false;
    struct stat now {};
    if (::lstat(to.c_str(), &now) == 0 && now.st_dev == info.st_dev && now.st_ino == info.st_ino &&
        now.st_nlink == 2)
        return true;
    ::unlink(to.c_str());
    return false;
}

Expected<void> import_file(const fs::path& from, const fs::path& to, Import how, Imported& imported) {
    const auto stamp = base::stamp_of(from);
    const auto source = open_source(from);
    if (!source) return base::system_error(from.string(), errno);
    struct stat info {};
    if (::fstat(source.get(), &info) != 0) return base::system_error(from.string(), errno);
    if (!S_ISREG(info.st_mode)) return Error{Code::usage, from.string() + ": is not a regular file any more"};
    const bool linked = how == Import::link && link_alone(source.get(), info, from, to);
    if (!linked) {
        if (auto ok = copy_to_new(source.get(), from, to, info.st_mode); !ok) return ok;
        // A mix of old and new content is not a checkpoint, although its checksum matches.
        if (!is_unchanged(source.get(), info))
            return Error{Code::usage,
                         from.string() + ": is still being written: publish it when its writer is done"};
    }
    imported.files.push_back({from, to.lexically_relative(imported.root).generic_string(), stamp, linked});
    return {};
}

Expected<void> import_any(const fs::path& from, const fs::path& to, Import how, Imported& imported);

Expected<void> import_children(const fs::path& from, const fs::path& to, Import how, Imported& imported) {
    std::error_code failed;
    for (fs::directory_iterator entry(from, failed), end; !failed && entry != end; entry.increment(failed))
        if (is_nfs_leftover(entry->path().filename().string()))
            continue;
        else if (auto ok = import_any(entry->path(), to / entry->path().filename(), how, imported); !ok)
            return ok;
    if (failed) return base::system_error(from.string(), failed.value());
    return {};
}

Expected<void> import_any(const fs::path& from, const fs::path& to, Import how, Imported& imported) {
    std::error_code failed;
    const auto type = fs::symlink_status(from, failed).type();
    if (type == fs::file_type::not_found)
        return Error{Code::not_found, from.string() + ": no such file or directory"};
    if (type == fs::file_type::none) return base::system_error(from.string(), failed.value());
    if (type == fs::file_type::regular) return import_file(from, to, how, imported);
    if (type == fs::file_type::directory) {
        if (!fs::create_directory(to, failed)) return base::system_error(to.string(), failed.value());
        auto ok = import_children(from, to, how, imported);
        imported.directories.push_back(from);
        return ok;
    }
    return Error{Code::usage,
                 fmt::format("{}: is {}: a checkpoint holds regular files and directories only",
                             from.string(),
                             type == fs::file_type::symlink ? "a symbolic link" : "a special file")};
}

} // namespace

bool is_unchanged(int fd, const struct stat& info) {
    struct stat now {};
    return ::fstat(fd, &now) == 0 && now.st_size == info.st_size &&
           now.st_mtim.tv_sec == info.st_mtim.tv_sec && now.st_mtim.tv_nsec == info.st_mtim.tv_nsec;
}

Expected<Imported> import_tree(const fs::path& from, const fs::path& to, Import how) {
    std::error_code failed;
    const auto source = fs::canonical(from, failed);
    if (failed || !fs::is_directory(source, failed))
        return Error{Code::not_found, from.string() + ": no such directory"};
    const auto below = fs::weakly_canonical(to, failed).lexically_relative(source);
    if (!below.empty() && *below.begin() != "..")
        return Error{Code::usage,
                     fmt::format("{}: the checkpoint directory stands in it: publish from another directory",
                                 from.string())};
    Imported imported;
    imported.root = to;
    if (auto ok = import_children(source, to, how, imported); !ok) return std::move(ok).error();
    return imported;
}

Expected<Imported> import_files(const std::vector<std::string>& from, const fs::path& to, Import how) {
    Imported imported;
    imported.root = to;
    for (const auto& name : from) {
        fs::path source(name);
        if (!source.has_filename()) source = source.parent_path(); // "dir/"
        const auto last = source.filename();
        if (last.empty() || last == "." || last == "..")
            return Error{
                Code::usage,
                fmt::format("\"{}\" has no name of its own: use --from DIR to publish a directory's files",
                            name)};
        std::error_code ignored;
        if (fs::exists(fs::symlink_status(to / last, ignored)))
            return Error{Code::usage,
                         fmt::format("{}: a file called {} is named already", name, last.string())};
        if (auto ok = import_any(source, to / last, how, imported); !ok) return std::move(ok).error();
    }
    return imported;
}

std::set<std::string> Imported::linked() const {
    std::set<std::string> names;
    for (const auto& file : files)
        if (file.linked) names.insert(file.name);
    return names;
}

Expected<void> part(const fs::path& path) {
    const auto source = open_source(path);
    struct stat info {};
    if (!source || ::fstat(source.get(), &info) != 0) return base::system_error(path.string(), errno);
    // A unique name within the 255-byte limit of file systems.
    std::string beside = (path.parent_path() / ".railckpt-XXXXXX").string();
    const base::UniqueFd target(::mkostemp(beside.data(), O_CLOEXEC));
    if (!target) return base::system_error(path.string(), errno);
    if (copy(source.get(), target.get()) && ::fchmod(target.get(), info.st_mode & 0777) == 0 &&
        ::rename(beside.c_str(), path.c_str()) == 0)
        return {};
    auto failed = base::system_error(path.string(), errno);
    ::unlink(beside.c_str());
    return failed;
}

std::vector<std::string> remove_sources(const Imported& imported) {
    std::vector<std::string> troubles;
    std::error_code failed;
    for (const auto& file : imported.files) {
        const auto now = base::stamp_of(file.path);
        if (now == base::FileStamp{}) continue; // gone
        if (now != file.stamp)
            troubles.push_back(
                file.path.string() +
                (file.linked && now.inode == file.stamp.inode && now.device == file.stamp.device
                     ? ": was written to while it was published: that checkpoint may be damaged"
                     : ": has changed since it was published, and stays"));
        else if (!fs::remove(file.path, failed) && failed)
            troubles.push_back(base::system_error(file.path.string(), failed.value()).text +
                               (file.linked ? ": it is the published file: do not write to it" : ""));
    }
    for (const auto& directory : imported.directories)
        fs::remove(directory, failed); // fails if something else is there
    return troubles;
}

} // namespace restart::ckpt
