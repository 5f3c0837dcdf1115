#include "restart/ctl/enable/files.hpp"

#include "base/file.hpp"
#include "base/unique_fd.hpp"
#include "base/units.hpp"
#include "base/user.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace restart::enable {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Error;
using base::Expected;

constexpr std::string_view kept_mark = ".before-railyard-";
constexpr std::size_t largest = std::size_t{64} << 20;

std::string kept_name(const fs::path& path, std::string_view kind, base::Time when) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(when).time_since_epoch().count();
    return fmt::format("{}{}{}-{}", path.filename().string(), kept_mark, kind, seconds);
}

std::string cluster_name(const std::vector<TextFile>& files) {
    return SlurmText(files).value("ClusterName").value_or("");
}

Expected<void> read_into(const fs::path& path, std::vector<fs::path> within, std::vector<TextFile>& into) {
    std::error_code failed;
    const auto real = fs::canonical(path, failed);
    if (failed) return Error{Code::io, fmt::format("{}: {}", path.string(), failed.message())};
    if (std::find(within.begin(), within.end(), real) != within.end())
        return Error{Code::input, fmt::format("{}: includes itself", real.string())};
    within.push_back(real);
    auto text = base::read_file(real, largest);
    if (!text) return text.error();
    into.push_back({real.string(), *std::move(text)});
    // Names are relative to the directory in which slurm.conf was found, as in Slurm.
    for (auto name : includes(std::string(into.back().text))) {
        if (const auto at = name.find("%c"); at != std::string::npos) name.replace(at, 2, cluster_name(into));
        const fs::path included(name);
        const auto folder = within.front().parent_path();
        if (auto done = read_into(included.is_absolute() ? included : folder / included, within, into); !done)
            return done;
    }
    return {};
}

Expected<void> write_whole(int fd, std::string_view bytes, const std::string& name) {
    while (!bytes.empty()) {
        const auto n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return base::system_error(name, errno);
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
}

struct Owned {
    uid_t user = 0;
    gid_t group = 0;
    mode_t mode = 0644;
};

// A new file of that name next to `path`, completely on disk. `name` must not exist.
Expected<void> create(int folder, const fs::path& path, const std::string& name, std::string_view bytes,
                      const Owned& owned) {
    const base::UniqueFd file(
        ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return base::system_error((path.parent_path() / name).string(), errno);
    auto done = write_whole(file.get(), bytes, path.string());
    if (done && (::fchown(file.get(), owned.user, owned.group) != 0 ||
                 ::fchmod(file.get(), owned.mode) != 0 || ::fsync(file.get()) != 0))
        done = base::system_error(path.string(), errno);
    if (!done) ::unlinkat(folder, name.c_str(), 0);
    return done;
}

Expected<base::UniqueFd> open_folder(const fs::path& path) {
    const auto folder = path.parent_path();
    base::UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return base::system_error(folder.string(), errno);
    return opened;
}

// The file as it is: its bytes and its owner. None if it does not exist.
struct Present {
    std::string text;
    Owned owned;
};
Expected<std::optional<Present>> present(int folder, const fs::path& path) {
    struct stat info {};
    const auto name = path.filename().string();
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return std::optional<Present>();
        return base::system_error(path.string(), errno);
    }
    if (!S_ISREG(info.st_mode))
        return Error{Code::unfit,
                     fmt::format("{}: is a link or no file, and is not replaced", path.string())};
    auto text = base::read_file(path, largest);
    if (!text) return text.error();
    return std::optional(Present{*std::move(text), {info.st_uid, info.st_gid, info.st_mode & 07777}});
}

bool others_may_write(const struct stat& info, std::optional<uid_t> owner, bool directory) {
    const bool trusted = info.st_uid == 0 || info.st_uid == ::geteuid() || info.st_uid == owner;
    if (!trusted) return true;
    // In a sticky directory no one can replace another user's files.
    return (info.st_mode & 022) != 0 && !(directory && (info.st_mode & S_ISVTX) != 0);
}

} // namespace

Expected<std::vector<TextFile>> read_slurm_conf(const fs::path& path) {
    std::vector<TextFile> files;
    if (auto done = read_into(path, {}, files); !done) return std::move(done).error();
    return files;
}

Expected<void> only_ours(const fs::path& path, const std::string& owner) {
    std::optional<uid_t> user;
    if (const auto uid = base::find_uid(owner)) user = *uid;
    std::error_code failed;
    const auto folder = fs::canonical(path.parent_path(), failed);
    if (failed) return Error{Code::io, fmt::format("{}: {}", path.parent_path().string(), failed.message())};
    const auto refuse = [&](const fs::path& what) {
        return Error{Code::denied, fmt::format("{}: others than root can write to {}: chown root, chmod go-w",
                                               path.string(), what.string())};
    };
    struct stat info {};
    if (::lstat(path.c_str(), &info) == 0 && others_may_write(info, user, false)) return refuse(path);
    for (auto up = folder;; up = up.parent_path()) {
        if (::stat(up.c_str(), &info) != 0) return base::system_error(up.string(), errno);
        if (others_may_write(info, user, true)) return refuse(up);
        if (!up.has_relative_path()) return {};
    }
}

Expected<void> replace_file(const fs::path& path, const std::optional<std::string>& before,
                            const std::optional<std::string>& after) {
    auto folder = open_folder(path);
    if (!folder) return folder.error();
    auto old = present(folder->get(), path);
    if (!old) return old.error();
    if (old->has_value() != before.has_value() || (before && (*old)->text != *before))
        return Error{Code::unfit, fmt::format("{}: was changed by somebody else meanwhile: run this again",
                                              path.string())};
    const auto name = path.filename().string();
    if (!after) {
        if (before && ::unlinkat(folder->get(), name.c_str(), 0) != 0)
            return base::system_error(path.string(), errno);
    } else {
        const auto scratch = fmt::format(".{}.railyard-{}", name, ::getpid());
        const auto owned = old->has_value() ? (*old)->owned : Owned{};
        if (auto done = create(folder->get(), path, scratch, *after, owned); !done) return done;
        if (::renameat(folder->get(), scratch.c_str(), folder->get(), name.c_str()) != 0) {
            const auto error = base::system_error(path.string(), errno);
            ::unlinkat(folder->get(), scratch.c_str(), 0);
            return error;
        }
    }
    ::fsync(folder->get());
    return {};
}

Expected<fs::path> keep_copy(const fs::path& path, std::string_view kind, base::Time now) {
    auto folder = open_folder(path);
    if (!folder) return folder.error();
    auto old = present(folder->get(), path);
    if (!old) return old.error();
    if (!*old) return Error{Code::not_found, fmt::format("{}: is not there", path.string())};
    const auto name = kept_name(path, kind, now);
    struct stat info {};
    if (::fstatat(folder->get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) { // made in the same second
        if (kept_text(path, kind, now) == (*old)->text) return path.parent_path() / name;
        return Error{Code::unfit, fmt::format("{}: is there already: run this again", name)};
    }
    if (auto done = create(folder->get(), path, name, (*old)->text, (*old)->owned); !done)
        return std::move(done).error();
    ::fsync(folder->get());
    return path.parent_path() / name;
}

void forget_copy(const fs::path& path, std::string_view kind, base::Time when) {
    const auto kept = kept_text(path, kind, when);
    const auto text = base::read_file(path, largest);
    if (kept && text && *kept == *text) ::unlink((path.parent_path() / kept_name(path, kind, when)).c_str());
}

std::optional<base::Time> last_kept(const fs::path& path, std::string_view kind) {
    const auto start = fmt::format("{}{}{}-", path.filename().string(), kept_mark, kind);
    std::optional<base::Time> last;
    std::error_code failed;
    for (fs::directory_iterator entry(path.parent_path(), failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const auto name = entry->path().filename().string();
        if (!name.starts_with(start)) continue;
        if (const auto seconds = base::parse_count(name.substr(start.size()))) {
            const base::Time when{std::chrono::seconds(*seconds)};
            if (!last || when > *last) last = when;
        }
    }
    return last;
}

std::optional<std::string> kept_text(const fs::path& path, std::string_view kind, base::Time when) {
    auto text = base::read_file(path.parent_path() / kept_name(path, kind, when), largest);
    if (!text) return {};
    return *std::move(text);
}

} // namespace restart::enable
