#include "restart/lsf/shell.hpp"

#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace std::chrono_literals;

namespace {

// In a process of its own, as a group of its own: the line's end, and who sends signals when.
int ended(const std::string& line, const std::function<void(pid_t)>& meanwhile) {
    const auto child = ::fork();
    if (child == 0) {
        ::setpgid(0, 0);
        const auto status = restart::lsf::run(line, {1h, [] {}, [](int) {}});
        ::_exit(status ? *status : 255);
    }
    meanwhile(child);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// By a process that is neither of the group nor started it.
void send(pid_t to, int number) {
    const auto sender = ::fork();
    if (sender == 0) {
        ::setpgid(0, 0);
        ::_exit(::kill(to, number) == 0 ? 0 : 1);
    }
    int status = 0;
    while (::waitpid(sender, &status, 0) < 0 && errno == EINTR) {}
    CHECK(status == 0);
}

void until_there(const std::filesystem::path& file) {
    REQUIRE(test::eventually([&] { return std::filesystem::exists(file); }));
}

} // namespace

TEST_CASE("the line ends with its status, or 128 and its signal") {
    const auto nobody = [](pid_t) {};
    CHECK(ended("exit 7", nobody) == 7);
    CHECK(ended("true | true && [ \"a b\" = 'a b' ]", nobody) == 0);
    CHECK(ended("kill -KILL $$", nobody) == 128 + SIGKILL);
    CHECK(ended("no-such-program-of-ours 2>/dev/null", nobody) == 127);
}

TEST_CASE("a script is run by what its first line names") {
    const auto nobody = [](pid_t) {};
    CHECK(ended("#!/bin/bash\n# one\nx=(a b)\nexit ${#x[@]}\n", nobody) == 2);
    CHECK(ended("#! /usr/bin/env -S bash -e \nfalse\nexit 9\n", nobody) == 1);
    CHECK(ended("#!\nexit 4\n", nobody) == 4);
    CHECK(ended("#!/nonexistent/sh\nexit 0\n 2>/dev/null", nobody) == 127);
}

TEST_CASE("a signal that was sent to us alone reaches the line") {
    const test::Folder folder;
    const auto ready = folder.path / "ready";
    const auto line = "trap 'exit 42' TERM; : > " + ready.string() +
                      "; i=0; while [ $i -lt 2400 ]; do i=$((i+1)); sleep 0.05; done";
    CHECK(ended(line, [&](pid_t pid) {
              until_there(ready);
              send(pid, SIGTERM);
          }) == 42);
}

TEST_CASE("what LSF sends to the group reaches the line once") {
    const test::Folder folder;
    const auto ready = folder.path / "ready", got = folder.path / "got";
    const auto line = "exec 2>/dev/null; trap 'echo got >>" + got.string() +
                      "' USR1; trap 'exit 0' TERM; : > " + ready.string() +
                      "; i=0; while [ $i -lt 12000 ]; do i=$((i+1)); sleep 0.01; done";
    CHECK(ended(line, [&](pid_t pid) { // its parent, as LSF's daemon is
              until_there(ready);
              for (std::size_t i = 1; i <= 5; ++i) { // one after the other, as equal ones that wait are one
                  ::kill(-pid, SIGUSR1);
                  CHECK(test::eventually([&] {
                      return std::filesystem::exists(got) && std::filesystem::file_size(got) >= 4 * i;
                  }));
              }
              ::kill(-pid, SIGTERM);
          }) == 0);
    CHECK(std::filesystem::file_size(got) == 20);
}

TEST_CASE("a signal to the group reaches the line from its sender, and ends us with it") {
    const test::Folder folder;
    const auto ready = folder.path / "ready";
    const auto line = ": > " + ready.string() + "; exec sleep 600";
    CHECK(ended(line, [&](pid_t pid) {
              until_there(ready);
              ::kill(-pid, SIGINT);
          }) == 128 + SIGINT);
}

TEST_CASE("signals that were ours to wait for are the line's to have") {
    // Blocked in us: a program that inherits that could not be ended.
    CHECK(ended("grep -q '^SigBlk:.0*$' /proc/self/status", [](pid_t) {}) == 0);
}

TEST_CASE("what runs after another gets signals as the first did") {
    const auto child = ::fork();
    if (child == 0) {
        const restart::lsf::Watching watching{1h, [] {}, [](int) {}};
        static_cast<void>(restart::lsf::run("exit 0", watching).has_value());
        const auto status = restart::lsf::run("kill -TERM $$; exit 0", watching);
        ::_exit(status ? *status : 255);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    CHECK(WEXITSTATUS(status) == 128 + SIGTERM);
}

TEST_CASE("a look is taken at once") {
    int looks = 0;
    const auto status = restart::lsf::run("exit 3", {1h, [&] { ++looks; }, [](int) {}});
    REQUIRE(status);
    CHECK(*status == 3);
    CHECK(looks == 1);
}
