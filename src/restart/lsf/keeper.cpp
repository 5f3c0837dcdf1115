#include "restart/lsf/keeper.hpp"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace restart::lsf {
namespace {

constexpr base::Duration end_within{2'000}; // for processes that must end
// In calls of the agent per search for processes, and before the first search: a launcher may start many
// processes that end soon.
constexpr int looks_between = 5, soon = 2;

} // namespace

Keeper::Keeper(const KeptStart& start, std::function<void(const std::string&)> say)
    : start_(start), say_(std::move(say)), agent_(start.socket, start.job, start.start),
      processes_({fmt::format("RAIL_JOB_ID={}", to_string(start.job)),
                  fmt::format("RAIL_RESTART_COUNT={}", start.start)}) {}

bool Keeper::look() {
    // A missing agent costs the job nothing; its other clients report that where it matters.
    const auto advice = agent_.keep({});
    if (!advice) return false;
    cut_off_ = !advice->end && advice->cut_off && start_.reruns;
    if (!advice->end && !cut_off_) return false;
    say_(fmt::format("{}: this job's processes on this host are ended",
                     advice->end ? *advice->end : *advice->cut_off));
    if (const auto left = processes_.end(end_within); !left.empty())
        say_(fmt::format("processes {} do not end", fmt::join(left, ", ")));
    return true;
}

void Keeper::stand_in() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_UNBLOCK, &all, nullptr); // so that the resource manager's signals end this process
    while (cut_off_) {
        const auto advice = agent_.keep({true});
        cut_off_ = !advice || !advice->end;
        std::this_thread::sleep_for(every);
    }
}

void keep_apart(const KeptStart& start) {
    const auto between = ::fork();
    if (between != 0) {
        if (between > 0) ::waitpid(between, nullptr, 0);
        return;
    }
    // Twice, so that it is not a child of a program that does not know it.
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) // the line's parent waits for their end
        if (null >= 0) ::dup2(null, fd);
    ::closefrom(3);
    Keeper keeper(start, [](const std::string&) {});
    for (int looks = 1; !keeper.look(); ++looks) {
        std::this_thread::sleep_for(Keeper::every);
        if ((looks == soon || looks % looks_between == 0) && !keeper.keeps_any()) break;
    }
    ::_exit(0);
}

} // namespace restart::lsf
