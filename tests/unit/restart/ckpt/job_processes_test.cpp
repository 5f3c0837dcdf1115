#include "restart/ckpt/job_processes.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;
using restart::ckpt::JobProcesses;

namespace {

// A shell with this variable, in a session of its own; its number as soon as it has done what comes before.
pid_t start(const std::string& marks, const std::string& line, const std::string& before = "true") {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const auto child = ::fork();
    if (child == 0) {
        ::setsid();
        ::dup2(ready[1], 1);
        const auto text = fmt::format("exec env {} /bin/sh -c '{}; echo; {}'", marks, before, line);
        ::execl("/bin/sh", "sh", "-c", text.c_str(), static_cast<char*>(nullptr));
        ::_exit(127);
    }
    ::close(ready[1]);
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    ::close(ready[0]);
    return child;
}

std::string mark(const char* name) {
    return fmt::format("{}={}", name, ::getpid());
}

bool holds(const std::vector<pid_t>& list, pid_t pid) {
    return std::find(list.begin(), list.end(), pid) != list.end();
}

int end_of(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

} // namespace

TEST_CASE("the processes of one start of a job are found and ended, and no others") {
    const auto job = mark("RAIL_TEST_JOB");
    const auto mine = start(job + " RAIL_TEST_START=1", "sleep 600; true");
    const auto other = start(job + " RAIL_TEST_START=12", "sleep 600; true");
    const JobProcesses processes({job, "RAIL_TEST_START=1"});
    const auto found = processes.found();
    CHECK(holds(found, mine));
    CHECK_FALSE(holds(found, other));
    CHECK_FALSE(holds(found, ::getpid()));
    std::jthread reaper(
        [&] { CHECK(end_of(mine) == SIGTERM); }); // a child that is not waited for stays in /proc
    CHECK(processes.end(60s).empty());
    reaper.join();
    CHECK(::kill(other, 0) == 0);
    ::kill(-other, SIGKILL);
    end_of(other);
}

TEST_CASE("those that take no SIGTERM are killed") {
    const auto job = mark("RAIL_TEST_DEAF");
    const auto deaf = start(job, "while :; do sleep 600 & wait; done", "trap : TERM");
    const JobProcesses processes({job});
    std::jthread reaper([&] { CHECK(end_of(deaf) == SIGKILL); });
    CHECK(processes.end(300ms).empty());
}
