#include "restart/ckpt/safe_open.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <utility>

namespace restart::ckpt {

base::UniqueFd open_beneath(int root, std::string_view name, int& failed) {
    base::UniqueFd at;
    for (;;) {
        const auto slash = name.find('/');
        const std::string part(name.substr(0, slash));
        const bool last = slash == std::string_view::npos;
        base::UniqueFd next(::openat(at ? at.get() : root, part.c_str(),
                                     O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (last ? O_NONBLOCK : O_DIRECTORY)));
        failed = next ? 0 : errno;
        if (last || !next) return next;
        at = std::move(next);
        name.remove_prefix(slash + 1);
    }
}

// If the lease is broken it sends SIGURG, which is harmless, instead of SIGIO.
Writers writers_of(int fd) {
    if (::fcntl(fd, F_SETSIG, SIGURG) != 0) return Writers::unknown;
    if (::fcntl(fd, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? Writers::some : Writers::unknown;
    ::fcntl(fd, F_SETLEASE, F_UNLCK);
    return Writers::none;
}

} // namespace restart::ckpt
