#include "restart/watch/run_apart.hpp"

#include "base/close_inherited.hpp"
#include "base/unique_fd.hpp"
#include "base/units.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>

namespace restart {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void be_child(const std::function<base::Expected<std::string>()>& work, int out) {
    base::close_inherited(out);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    std::signal(SIGTERM, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    if (const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) ::dup2(null, STDERR_FILENO);
    const auto result = work();
    const auto text = fmt::format("{}{}", result ? "+" : "-", result ? *result : result.error().text);
    for (std::string_view rest = text; !rest.empty();) {
        const auto n = ::write(out, rest.data(), rest.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        rest.remove_prefix(static_cast<std::size_t>(n));
    }
    // exit, not _exit: libraries release their device resources.
    std::exit(0);
}

// SIGTERM, then SIGKILL.
void end(pid_t child) {
    ::kill(child, SIGTERM);
    for (int i = 0; i < 20; ++i) {
        if (::waitpid(child, nullptr, WNOHANG) == child) return;
        ::poll(nullptr, 0, 10);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

} // namespace

base::Expected<std::string> run_apart(const std::function<base::Expected<std::string>()>& work,
                                      base::Duration deadline, int interrupt) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::system_error("pipe", errno);
    base::UniqueFd in(ends[0]), out(ends[1]);
    // The child inherits the parent's handlers until it has installed its own.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const auto child = ::fork();
    const int failed = errno;
    if (child == 0) be_child(work, out.get());
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (child < 0) return base::system_error("fork", failed);
    out = base::UniqueFd();

    std::string text;
    std::array<char, 65536> block;
    for (const auto until = Clock::now() + deadline;;) {
        const auto left = std::chrono::ceil<base::Duration>(until - Clock::now());
        std::array<pollfd, 2> watched{pollfd{in.get(), POLLIN, 0}, pollfd{interrupt, POLLIN, 0}};
        if (left <= base::Duration{0} ||
            ::poll(watched.data(), watched.size(), static_cast<int>(left.count())) == 0) {
            end(child);
            return base::Error{base::Code::unavailable,
                               fmt::format("no end within {}", base::human_duration(deadline))};
        }
        if (watched[0].revents == 0 && watched[1].revents != 0) {
            end(child);
            return base::Error{base::Code::usage, "interrupted"};
        }
        if (watched[0].revents == 0) continue;
        const auto n = ::read(in.get(), block.data(), block.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        text.append(block.data(), static_cast<std::size_t>(n));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (text.empty())
        return base::Error{base::Code::unavailable, WIFSIGNALED(status)
                                                        ? fmt::format("ended by signal {}", WTERMSIG(status))
                                                        : std::string("ended without a word")};
    if (text.front() == '-') return base::Error{base::Code::unavailable, text.substr(1)};
    return text.substr(1);
}

} // namespace restart
