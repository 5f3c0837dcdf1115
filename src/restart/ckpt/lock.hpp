// A lock between processes: flock(2) on a small file that stays.
//
// The lock goes with its holder's last descriptor, so a killed process leaves none behind. On a file system
// without flock (Lustre mounted with -o noflock) locks are granted without holding anything: checkpoints stay
// whole there, because they are published by rename(2), but two writers are no longer told of each other.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/unique_fd.hpp"

#include <filesystem>

namespace restart::ckpt {

class FileLock {
public:
    FileLock() = default;

    // Waits for at most `wait`. Errors: Code::unavailable when another process still holds it, Code::io. A
    // symbolic link in place of the file is refused.
    static base::Expected<FileLock> acquire(const std::filesystem::path& file, base::Duration wait);

    bool held() const { return static_cast<bool>(fd_); }

private:
    explicit FileLock(base::UniqueFd fd) : fd_(std::move(fd)) {}
    base::UniqueFd fd_;
};

} // namespace restart::ckpt
