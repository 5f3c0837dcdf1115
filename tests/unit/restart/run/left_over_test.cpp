#include "restart/run/left_over.hpp"

#include <catch2/catch.hpp>

#include <cerrno>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using restart::run::LeftOver;

namespace {

constexpr unsigned long_enough = 600; // seconds; nobody waits for it

pid_t sleeper() {
    const auto child = ::fork();
    if (child == 0) {
        ::sleep(long_enough);
        ::_exit(0);
    }
    return child;
}

// A launcher that leaves a process behind, which ignores requests to end: that one's number.
pid_t left_by_a_launcher() {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe(ends) == 0);
    const auto launcher = ::fork();
    if (launcher == 0) {
        const auto left = ::fork();
        if (left == 0) {
            ::signal(SIGTERM, SIG_IGN);
            const auto self = ::getpid();
            [[maybe_unused]] const auto n = ::write(ends[1], &self, sizeof self);
            ::close(ends[0]);
            ::close(ends[1]);
            ::sleep(long_enough);
        }
        ::_exit(0);
    }
    pid_t left = 0;
    REQUIRE(::read(ends[0], &left, sizeof left) == sizeof left);
    ::close(ends[0]);
    ::close(ends[1]);
    REQUIRE(::waitpid(launcher, nullptr, 0) == launcher);
    return left;
}

bool is_there(pid_t pid) {
    return ::kill(pid, 0) == 0 || errno != ESRCH;
}

} // namespace

TEST_CASE("what a launcher left behind ends before the next launch; what was there before stays") {
    // In a process of its own: adopting lasts as long as that.
    const auto tested = ::fork();
    if (tested == 0) {
        const auto before = sleeper();
        const LeftOver left_over;
        const auto left = left_by_a_launcher();
        left_over.end();
        const bool good = !is_there(left) && is_there(before);
        left_over.end(); // nothing is left: it returns at once
        ::kill(before, SIGKILL);
        ::_exit(good ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(tested, &status, 0) == tested);
    CHECK(status == 0);
}
