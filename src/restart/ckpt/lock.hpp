// A lock between processes: flock(2) on a small file that is never removed.
//
// The lock is released with its holder's last descriptor, so a killed process leaves none behind. If the file
// system has no locks (Lustre mounted with -o noflock, NFS without a lock service) nothing is held, and
// missing() reports it: callers must then be correct without.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/unique_fd.hpp"

#include <chrono>
#include <filesystem>
#include <string>

namespace restart::ckpt {

// How long to wait for a directory's lock. It is held briefly, but a host that loses power or its network
// while holding the lock keeps it until the file server expires it: NFS after its lease, 90 s unless set
// otherwise (/proc/fs/nfsd/nfsv4leasetime).
inline constexpr base::Duration longest_lease = std::chrono::minutes(2);

class FileLock {
public:
    FileLock() = default;

    // Waits for at most `wait`. On a file system without locks: returns a lock that is not held. Errors:
    // Code::unavailable when another process still holds it, Code::io. A symbolic link in place of the file
    // is refused.
    static base::Expected<FileLock> acquire(const std::filesystem::path& file, base::Duration wait);

    bool held() const { return static_cast<bool>(fd_); }
    const std::string& missing() const { return missing_; } // the message to print when it is not held

private:
    explicit FileLock(base::UniqueFd fd) : fd_(std::move(fd)) {}
    base::UniqueFd fd_;
    std::string missing_{};
};

} // namespace restart::ckpt
