#include "restart/watch/signals.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>

namespace restart {

Signals::Signals() {
    sigset_t ours;
    ::sigemptyset(&ours);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP})
        ::sigaddset(&ours, signal);
    ::pthread_sigmask(SIG_BLOCK, &ours, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    fd_ = base::UniqueFd(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::What Signals::wait(base::Duration longest, int other) const {
    std::array<pollfd, 2> watched{pollfd{fd_.get(), POLLIN, 0}, pollfd{other, POLLIN, 0}};
    const auto ms = std::clamp<base::Duration::rep>(longest.count(), 0, INT_MAX);
    ::poll(watched.data(), watched.size(), static_cast<int>(ms));
    signalfd_siginfo about{};
    if (::read(fd_.get(), &about, sizeof about) != static_cast<ssize_t>(sizeof about)) return What::nothing;
    return about.ssi_signo == SIGHUP ? What::reload : What::stop;
}

} // namespace restart
