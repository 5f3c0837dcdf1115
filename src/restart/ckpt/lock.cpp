#include "restart/ckpt/lock.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>

namespace restart::ckpt {

base::Expected<FileLock> FileLock::acquire(const std::filesystem::path& file, base::Duration wait) {
    using Clock = std::chrono::steady_clock;
    base::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!fd) return base::system_error(file.string(), errno);
    const auto deadline = Clock::now() + wait;
    // Each attempt is a request to the file server, so that a long wait asks less and less often.
    for (auto pause = base::Duration(5);; pause = std::min(2 * pause, base::Duration(200))) {
        if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return FileLock(std::move(fd));
        if (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOTSUP || errno == ENOLCK ||
            errno == EINVAL) {
            FileLock none;
            none.missing_ =
                base::system_error(file.string(), errno).text +
                ": this file system has no locks: see that one process at a time writes checkpoints "
                "of a job there (Lustre: mount with -o flock)";
            return none;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) return base::system_error(file.string(), errno);
        if (Clock::now() >= deadline)
            return base::Error{base::Code::unavailable, file.string() + ": another process holds this lock"};
        std::this_thread::sleep_for(pause);
    }
}

} // namespace restart::ckpt
