#include "restart/lsf/shell.hpp"

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "restart/ckpt/job_processes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace restart::lsf {
namespace {

using ckpt::parent_of;
using Clock = std::chrono::steady_clock;

constexpr const char* shell = "/bin/sh";

// Whether this is one of LSF's daemons, running as this user, that started this process.
bool started_us(pid_t pid) {
    auto above = ::getppid();
    for (int steps = 0; above > 1 && steps < 64; ++steps, above = parent_of(above))
        if (above == pid) return true;
    return false;
}

bool sent_by_a_process(const signalfd_siginfo& what) {
    return what.ssi_code == SI_USER || what.ssi_code == SI_QUEUE || what.ssi_code == SI_TKILL;
}

// From the job itself: rail-lsf-run, its line, or what that started.
bool of_our_group(const signalfd_siginfo& what) {
    return ::getpgid(static_cast<pid_t>(what.ssi_pid)) == ::getpgrp();
}

// Whether it was sent to this process only.
bool sent_to_us(const signalfd_siginfo& what) {
    return sent_by_a_process(what) && !sent_by_lsf(what) && !of_our_group(what);
}

// INT, TERM and KILL end a job; before that, USR2 or XCPU may announce a limit, depending on the queue.
bool ends_jobs(std::uint32_t number) {
    return number == SIGINT || number == SIGTERM || number == SIGUSR2 || number == SIGXCPU;
}

// Takes pending signals; passes those meant for the child on to it.
void take_signals(int signals, pid_t child, const Watching& watching) {
    std::array<signalfd_siginfo, 8> taken{};
    for (;;) {
        const auto n = ::read(signals, taken.data(), sizeof taken);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        for (std::size_t i = 0; i < static_cast<std::size_t>(n) / sizeof taken[0]; ++i)
            if (taken[i].ssi_signo == SIGCHLD)
                continue;
            else if (sent_to_us(taken[i]))
                ::kill(child, static_cast<int>(taken[i].ssi_signo));
            else if (ends_jobs(taken[i].ssi_signo) && sent_by_lsf(taken[i]))
                watching.ending(static_cast<int>(taken[i].ssi_signo));
    }
}

// A script's interpreter as parsed by execve(2): a program, and the rest of the line as one word.
struct Interpreter {
    std::string program, word;
};

std::optional<Interpreter> interpreter_of(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    if (!line.starts_with("#!")) return {};
    line = line.substr(2, line.find('\n') - 2);
    const auto trim = [&](std::string_view text) {
        const auto first = text.find_first_not_of(blanks);
        if (first == std::string_view::npos) return std::string();
        return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
    };
    const auto text = trim(line);
    const auto end = std::min(text.find_first_of(blanks), text.size());
    if (end == 0) return {};
    return Interpreter{text.substr(0, end), trim(text.substr(end))};
}

// The script as an unnamed file, which exists as long as it is open; -1 on failure.
int in_memory(const std::string& text) {
    const int file = ::memfd_create("job-script", 0);
    for (std::size_t done = 0; file >= 0 && done < text.size();) {
        const auto n = ::write(file, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        done += static_cast<std::size_t>(n);
    }
    return file;
}

} // namespace

bool sent_by_lsf(const signalfd_siginfo& what) {
    if (!sent_by_a_process(what)) return false;
    const auto sender = static_cast<pid_t>(what.ssi_pid); // 0: in another container
    if (what.ssi_uid != ::getuid() || sender == 0) return true;
    return !of_our_group(what) && started_us(sender);
}

base::Error become(const std::string& line) {
    const auto by = interpreter_of(line);
    if (!by) {
        ::execl(shell, "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
        return base::system_error(shell, errno);
    }
    const auto file = in_memory(line);
    if (file < 0) return base::system_error("memfd_create", errno);
    const auto path = "/proc/self/fd/" + std::to_string(file);
    const char* program = by->program.c_str();
    if (by->word.empty())
        ::execl(program, program, path.c_str(), static_cast<char*>(nullptr));
    else
        ::execl(program, program, by->word.c_str(), path.c_str(), static_cast<char*>(nullptr));
    return base::system_error(by->program, errno);
}

base::Expected<int> run(const std::string& line, const Watching& watching) {
    return run(Become([&] { return become(line); }), watching);
}

base::Expected<int> run(const Become& become, const Watching& watching) {
    // The next program started must get the mask of the first.
    static const sigset_t before = [] {
        sigset_t mask;
        ::sigprocmask(SIG_BLOCK, nullptr, &mask);
        return mask;
    }();
    sigset_t taken;
    ::sigemptyset(&taken);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU,
                             SIGXFSZ, SIGPROF, SIGVTALRM, SIGTSTP, SIGPIPE})
        ::sigaddset(&taken, number);
    ::sigprocmask(SIG_BLOCK, &taken, nullptr);
    const base::UniqueFd signals(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals) return base::system_error("signalfd", errno);
    const auto parent = ::getpid();
    const auto child = ::fork();
    if (child < 0) return base::system_error("fork", errno);
    if (child == 0) {
        ::sigprocmask(SIG_SETMASK, &before, nullptr);
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(1); // it died before
        const auto text = "rail-lsf-run: " + become().text + "\n";
        [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text.data(), text.size());
        ::_exit(127);
    }
    for (auto due = Clock::now();;) {
        if (Clock::now() >= due) {
            watching.look();
            due = Clock::now() + watching.every;
        }
        int status = 0;
        const auto ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (ended < 0 && errno != EINTR) return base::system_error("waitpid", errno);
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now());
        pollfd watched{signals.get(), POLLIN, 0};
        ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
        take_signals(signals.get(), child, watching);
    }
}

} // namespace restart::lsf
