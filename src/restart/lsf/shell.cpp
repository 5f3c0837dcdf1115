#include "restart/lsf/shell.hpp"

#include "base/unique_fd.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace restart::lsf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* shell = "/bin/sh";

// Was it meant for this process alone?
bool sent_to_us(const signalfd_siginfo& what) {
    if (what.ssi_code != SI_USER && what.ssi_code != SI_QUEUE && what.ssi_code != SI_TKILL) return false;
    if (what.ssi_uid != ::getuid()) return false;
    const auto group = ::getpgid(static_cast<pid_t>(what.ssi_pid));
    return group != ::getpgrp();
}

// What waits there; those that are the child's go to it.
void take_signals(int signals, pid_t child) {
    std::array<signalfd_siginfo, 8> taken{};
    for (;;) {
        const auto n = ::read(signals, taken.data(), sizeof taken);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        for (std::size_t i = 0; i < static_cast<std::size_t>(n) / sizeof taken[0]; ++i)
            if (taken[i].ssi_signo != SIGCHLD && sent_to_us(taken[i]))
                ::kill(child, static_cast<int>(taken[i].ssi_signo));
    }
}

} // namespace

base::Error become(const std::string& line) {
    ::execl(shell, "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
    return base::system_error(shell, errno);
}

base::Expected<int> run(const std::string& line, base::Duration every, const std::function<void()>& look) {
    sigset_t taken, before;
    ::sigemptyset(&taken);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU,
                             SIGXFSZ, SIGPROF, SIGVTALRM, SIGTSTP, SIGPIPE})
        ::sigaddset(&taken, number);
    ::sigprocmask(SIG_BLOCK, &taken, &before);
    const base::UniqueFd signals(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals) return base::system_error("signalfd", errno);
    const auto parent = ::getpid();
    const auto child = ::fork();
    if (child < 0) return base::system_error("fork", errno);
    if (child == 0) {
        ::sigprocmask(SIG_SETMASK, &before, nullptr);
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(1); // it died before
        ::execl(shell, "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
        constexpr char text[] = "rail-lsf-run: /bin/sh cannot be started\n";
        [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text, sizeof text - 1);
        ::_exit(127);
    }
    for (auto due = Clock::now();;) {
        if (Clock::now() >= due) {
            look();
            due = Clock::now() + every;
        }
        int status = 0;
        const auto ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (ended < 0 && errno != EINTR) return base::system_error("waitpid", errno);
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now());
        pollfd watched{signals.get(), POLLIN, 0};
        ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
        take_signals(signals.get(), child);
    }
}

} // namespace restart::lsf
