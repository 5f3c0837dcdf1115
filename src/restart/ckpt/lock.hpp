// A lock between processes: flock(2) on a small file that stays.
//
// The lock is released with its holder's last descriptor, so a killed process leaves none behind. Where the
// file system has no locks (Lustre mounted with -o noflock, NFS without a lock service) nothing is held, and
// missing() says so: callers must then be right without.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/unique_fd.hpp"

#include <chrono>
#include <filesystem>
#include <string>

namespace restart::ckpt {

// How long a directory's lock is waited for. It is held for moments, but a host that loses its power or its
// network with the lock keeps it until the file server gives it up: NFS after its lease, 90 s unless set
// otherwise (/proc/fs/nfsd/nfsv4leasetime).
inline constexpr base::Duration longest_lease = std::chrono::minutes(2);

class FileLock {
public:
    FileLock() = default;

    // Waits for at most `wait`. On a file system without locks: one that is not held. Errors:
    // Code::unavailable when another process still holds it, Code::io. A symbolic link in place of the file
    // is refused.
    static base::Expected<FileLock> acquire(const std::filesystem::path& file, base::Duration wait);

    bool held() const { return static_cast<bool>(fd_); }
    const std::string& missing() const { return missing_; } // the sentence to print when it is not held

private:
    explicit FileLock(base::UniqueFd fd) : fd_(std::move(fd)) {}
    base::UniqueFd fd_;
    std::string missing_{};
};

} // namespace restart::ckpt
