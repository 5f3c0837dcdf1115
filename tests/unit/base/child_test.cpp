#include "base/child.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using namespace std::chrono_literals;

TEST_CASE("a program's output is read whole, and its words are not a shell's") {
    CHECK(*base::output_of({"printf", "%s|", "a b", "$(id)", ";"}, 10s) == "a b|$(id)|;|");
    const auto large = base::output_of({"head", "-c", "1000000", "/dev/zero"}, 10s);
    REQUIRE(large);
    CHECK(large->size() == 1'000'000);
    CHECK(base::output_of({"cat"}, 10s)->empty()); // it gets no input
}

TEST_CASE("a program that is not there, fails or takes too long is an error that names it") {
    const auto failure = [](std::vector<std::string> words, base::Duration patience = 10s) {
        const auto text = base::output_of(std::move(words), patience);
        REQUIRE_FALSE(text);
        return text.error();
    };
    CHECK(failure({"no-such-program"}).code == base::Code::not_found);
    CHECK(failure({"sh", "-c", "exit 3"}).text == "sh: ended with status 3");
    CHECK(failure({"sh", "-c", "kill -9 $$"}).text == "sh: ended with status 137");
    const auto began = std::chrono::steady_clock::now();
    CHECK(failure({"sleep", "60"}, 100ms).text == "sleep: no answer in time");
    CHECK(std::chrono::steady_clock::now() - began < 30s);
}

TEST_CASE("variables that would change the answer are left out") {
    ::setenv("RAILTEST_FORMAT", "%x", 1);
    CHECK(base::output_of({"printenv", "RAILTEST_FORMAT"}, 10s));
    CHECK_FALSE(base::output_of({"printenv", "RAILTEST_FORMAT"}, 10s, {"RAILTEST_"}));
    ::unsetenv("RAILTEST_FORMAT");
}

TEST_CASE("a program that fails is told with its status and its errors") {
    const auto ended = base::run_to_end({"sh", "-c", "echo said; echo wrong >&2; exit 3"}, 10s);
    REQUIRE(ended);
    CHECK(ended->status == 3);
    CHECK(ended->output == "said\nwrong\n");
    CHECK(base::run_to_end({"sh", "-c", "kill -9 $$"}, 10s)->status == 137);
    CHECK(base::run_to_end({"no-such-program"}, 10s).error().code == base::Code::not_found);
}

TEST_CASE("a program that takes too long is told with what it said last") {
    const std::vector<std::string> words{"sh", "-c",
                                         "echo first; printf 'still\\ttrying\\n' >&2; exec sleep 600"};
    std::string text;
    for (base::Duration patience = 250ms; patience < 60s && text.find("still") == std::string::npos;
         patience *= 2) { // a busy machine is slow to start it
        const auto ended = base::run_to_end(words, patience);
        REQUIRE_FALSE(ended);
        CHECK(ended.error().code == base::Code::unavailable);
        text = ended.error().text;
    }
    CHECK(text == "sh: no answer in time: still?trying");
    CHECK(base::output_of(words, 250ms).error().text == "sh: no answer in time");
}

TEST_CASE("a program's environment is ours with what is added") {
    ::setenv("RAILTEST_FORMAT", "%x", 1);
    CHECK(base::run_to_end({"printenv", "RAILTEST_FORMAT"}, 10s, {"RAILTEST_FORMAT=%y"})->output == "%y\n");
    CHECK(base::run_to_end({"printenv", "RAILTEST_FORMAT"}, 10s)->output == "%x\n");
    ::unsetenv("RAILTEST_FORMAT");
}

TEST_CASE("a program is given nothing of what this process has open") {
    const int open = ::open("/dev/null", O_RDONLY); // as a library that does not think of it leaves it
    REQUIRE(open > 2);
    const auto gone = base::run_to_end({"test", "-e", "/proc/self/fd/" + std::to_string(open)}, 10s);
    ::close(open);
    REQUIRE(gone);
    CHECK(gone->status == 1);
}
