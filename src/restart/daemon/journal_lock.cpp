#include "restart/daemon/journal_lock.hpp"

#include "base/file.hpp"
#include "restart/daemon/database.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace restart {
namespace {

namespace fs = std::filesystem;

fs::path lock_of(const fs::path& journal) {
    return journal.string() + ".lock";
}

base::Expected<void> sync(const fs::path& path, int flags) {
    const base::UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC));
    if (!fd || ::fsync(fd.get()) != 0) return base::system_error(path.string(), errno);
    return {};
}

base::Expected<void> write_owner(int fd, const fs::path& name) {
    const auto pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0)
        return base::system_error(name.string(), errno);
    return {};
}

// What a reader of both files would find in their present state, in one file. A process that has them open
// may be stopped, but no longer writes.
base::Expected<void> copy_of(const fs::path& journal, const fs::path& copy) {
    std::error_code failed;
    for (const char* tail : {"", "-wal", "-shm"})
        fs::remove(copy.string() + tail, failed);
    for (const char* tail : {"", "-wal"}) {
        const auto from = journal.string() + tail;
        if (*tail != '\0' && !fs::exists(from, failed)) continue;
        if (!fs::copy_file(from, copy.string() + tail, failed))
            return base::Error{base::Code::io, fmt::format("{}: {}", from, failed.message())};
    }
    auto database = Database::open(copy, Database::Open::existing);
    if (!database) return std::move(database).error().within(copy.string());
    for (const char* pragma : {"PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA journal_mode = DELETE"})
        if (auto done = database->value(pragma); !done) return std::move(done).error().within(copy.string());
    return {};
}

} // namespace

fs::path lease_beside(const fs::path& journal) {
    std::error_code failed;
    const auto whole = fs::absolute(journal, failed);
    return (failed ? journal : whole).string() + ".lease";
}

base::Expected<JournalLock> JournalLock::take(const fs::path& journal) {
    std::error_code failed;
    fs::create_directory(journal.parent_path(), failed); // /var/lib/railyard; its parent must exist
    const auto name = lock_of(journal);
    base::UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd) return base::system_error(name.string(), errno);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return base::system_error(name.string(), errno);
        std::array<char, 32> pid{};
        const auto n = ::pread(fd.get(), pid.data(), pid.size() - 1, 0);
        const std::string_view holder(pid.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
        return base::Error{
            base::Code::unavailable,
            fmt::format(
                "{}: another restartd holds this journal (process {}): stop it, or give this one a journal "
                "of its own (restartd.journal)",
                journal.string(), holder.substr(0, holder.find('\n')))};
    }
    JournalLock lock(std::move(fd));
    if (!lock.holds()) return take(journal); // taken away between opening and locking
    if (auto done = write_owner(lock.fd_.get(), name); !done) return std::move(done).error();
    return lock;
}

// The order matters. The new journal has everything from the old one's log (WAL), so that the old log, which
// stays next to it until it is removed, changes nothing when it is applied to it after a kill.
base::Expected<JournalLock> JournalLock::seize(const fs::path& journal) {
    const auto copy = fs::path(journal.string() + ".taken"),
               fresh = fs::path(lock_of(journal).string() + ".taken");
    if (auto done = copy_of(journal, copy); !done) return std::move(done).error();
    std::error_code failed;
    fs::permissions(copy, fs::perms(0600), failed);
    if (auto done = sync(copy, O_RDWR); !done) return std::move(done).error();

    fs::remove(fresh, failed);
    base::UniqueFd fd(::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return base::system_error(fresh.string(), errno);
    if (auto done = write_owner(fd.get(), fresh); !done) return std::move(done).error();
    if (::rename(copy.c_str(), journal.c_str()) != 0) return base::system_error(journal.string(), errno);
    for (const char* tail : {"-wal", "-shm"})
        fs::remove(journal.string() + tail, failed);
    if (::rename(fresh.c_str(), lock_of(journal).c_str()) != 0)
        return base::system_error(fresh.string(), errno);
    if (auto done = sync(journal.parent_path(), O_RDONLY | O_DIRECTORY); !done)
        return std::move(done).error();
    return JournalLock(std::move(fd));
}

bool JournalLock::holds() const {
    struct stat about {};
    return ::fstat(fd_.get(), &about) == 0 && about.st_nlink > 0;
}

bool JournalLock::tells_of_all() const {
    struct statfs about {};
    if (::fstatfs(fd_.get(), &about) != 0) return false;
    constexpr long xfs = 0x58465342, zfs = 0x2fc12fc1;
    for (const long own : {long{EXT4_SUPER_MAGIC}, xfs, long{BTRFS_SUPER_MAGIC}, long{TMPFS_MAGIC}, zfs,
                           long{OVERLAYFS_SUPER_MAGIC}, long{F2FS_SUPER_MAGIC}})
        if (static_cast<long>(about.f_type) == own) return true;
    return false;
}

} // namespace restart
