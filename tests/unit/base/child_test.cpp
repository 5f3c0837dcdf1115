#include "base/child.hpp"

#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using namespace std::chrono_literals;

TEST_CASE("a program's output is read whole, and its words are not a shell's") {
    CHECK(*base::output_of({"printf", "%s|", "a b", "$(id)", ";"}, test::patience()) == "a b|$(id)|;|");
    const auto large = base::output_of({"head", "-c", "1000000", "/dev/zero"}, test::patience());
    REQUIRE(large);
    CHECK(large->size() == 1'000'000);
    CHECK(base::output_of({"cat"}, test::patience())->empty()); // it gets no input
}

TEST_CASE("a program that is not there, fails or takes too long is an error that names it") {
    const auto failure = [](std::vector<std::string> words, base::Duration limit = test::patience()) {
        const auto text = base::output_of(std::move(words), limit);
        REQUIRE_FALSE(text);
        return text.error();
    };
    CHECK(failure({"no-such-program"}).code == base::Code::not_found);
    CHECK(failure({"sh", "-c", "exit 3"}).text == "sh: ended with status 3");
    CHECK(failure({"sh", "-c", "kill -9 $$"}).text == "sh: ended with status 137");
    // It never ends on its own: only the limit ends the wait.
    CHECK(failure({"sleep", "infinity"}, 100ms).text == "sleep: no answer in time");
}

TEST_CASE("variables that would change the answer are left out") {
    ::setenv("RAILTEST_FORMAT", "%x", 1);
    CHECK(base::output_of({"printenv", "RAILTEST_FORMAT"}, test::patience()));
    CHECK_FALSE(base::output_of({"printenv", "RAILTEST_FORMAT"}, test::patience(), {"RAILTEST_"}));
    ::unsetenv("RAILTEST_FORMAT");
}

TEST_CASE("a program that fails is told with its status and its errors") {
    const auto ended = base::run_to_end({"sh", "-c", "echo said; echo wrong >&2; exit 3"}, test::patience());
    REQUIRE(ended);
    CHECK(ended->status == 3);
    CHECK(ended->output == "said\nwrong\n");
    CHECK(base::run_to_end({"sh", "-c", "kill -9 $$"}, test::patience())->status == 137);
    CHECK(base::run_to_end({"no-such-program"}, test::patience()).error().code == base::Code::not_found);
}

TEST_CASE("a program that takes too long is told with what it said last") {
    const std::vector<std::string> words{"sh", "-c",
                                         "echo first; printf 'still\\ttrying\\n' >&2; exec sleep 600"};
    std::string text;
    for (base::Duration limit = 250ms; limit < test::patience() && text.find("still") == std::string::npos;
         limit *= 2) { // a busy machine is slow to start it
        const auto ended = base::run_to_end(words, limit);
        REQUIRE_FALSE(ended);
        CHECK(ended.error().code == base::Code::unavailable);
        text = ended.error().text;
    }
    CHECK(text == "sh: no answer in time: still?trying");
    CHECK(base::output_of(words, 250ms).error().text == "sh: no answer in time");
}

TEST_CASE("a program's environment is ours with what is added") {
    ::setenv("RAILTEST_FORMAT", "%x", 1);
    CHECK(
        base::run_to_end({"printenv", "RAILTEST_FORMAT"}, test::patience(), {"RAILTEST_FORMAT=%y"})->output ==
        "%y\n");
    CHECK(base::run_to_end({"printenv", "RAILTEST_FORMAT"}, test::patience())->output == "%x\n");
    ::unsetenv("RAILTEST_FORMAT");
}

TEST_CASE("a program is given nothing of what this process has open") {
    const int open = ::open("/dev/null", O_RDONLY); // as a library that does not think of it leaves it
    REQUIRE(open > 2);
    const auto gone =
        base::run_to_end({"test", "-e", "/proc/self/fd/" + std::to_string(open)}, test::patience());
    ::close(open);
    REQUIRE(gone);
    CHECK(gone->status == 1);
}
