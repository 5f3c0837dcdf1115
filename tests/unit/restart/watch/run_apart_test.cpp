#include "restart/watch/run_apart.hpp"

#include "base/unique_fd.hpp"
#include "unit/patience.hpp"
#include "unit/trials.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <iostream>
#include <string>
#include <unistd.h>

using namespace std::chrono_literals;

namespace {

// The child leaves by exit(), which would print once more what waits in our buffers.
auto run_apart(const std::function<base::Expected<std::string>()>& work, base::Duration deadline,
               int interrupt = -1) {
    std::cout.flush();
    return restart::run_apart(work, deadline, interrupt);
}

} // namespace

TEST_CASE("a child's text and its error come back") {
    const std::string large(1'000'000, 'x');
    const auto text = run_apart([&]() -> base::Expected<std::string> { return large; }, test::patience());
    REQUIRE(text);
    CHECK(*text == large);
    const auto failed = run_apart(
        []() -> base::Expected<std::string> {
            return base::Error{base::Code::io, "no such port"};
        },
        test::patience());
    REQUIRE_FALSE(failed);
    CHECK(failed.error().text == "no such port");
    CHECK(
        run_apart([]() -> base::Expected<std::string> { return std::string(); }, test::patience())->empty());
}

TEST_CASE("a child has nothing of its parent's open") {
    // High, as what the child opens gets the lowest numbers.
    const base::UniqueFd ours(::fcntl(STDOUT_FILENO, F_DUPFD, 200));
    REQUIRE(ours);
    const auto text = run_apart(
        [&]() -> base::Expected<std::string> {
            return std::string(::fcntl(ours.get(), F_GETFD) == -1 ? "closed" : "open");
        },
        test::patience());
    REQUIRE(text);
    CHECK(*text == "closed");
}

TEST_CASE("a child that hangs is ended, also one that does not listen") {
    const auto hung = run_apart(
        []() -> base::Expected<std::string> {
            std::signal(SIGTERM, SIG_IGN);
            for (;;)
                ::pause();
        },
        100ms);
    REQUIRE_FALSE(hung);
    CHECK(hung.error().text.find("no end within") != std::string::npos);
}

TEST_CASE("a child that crashes is an error") {
    const auto crashed = run_apart(
        []() -> base::Expected<std::string> {
            std::raise(SIGKILL);
            return std::string("never");
        },
        test::patience());
    REQUIRE_FALSE(crashed);
    CHECK(crashed.error().text == "ended by signal 9");
}

TEST_CASE("an interrupt ends a child early") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const base::UniqueFd in(ends[0]), out(ends[1]);
    REQUIRE(::write(out.get(), "x", 1) == 1);
    const auto ended = run_apart(
        []() -> base::Expected<std::string> {
            for (;;)
                ::pause();
        },
        test::patience(), in.get());
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code == base::Code::usage);
}

namespace {
int told = -1;
}

TEST_CASE("a child that is ended at once does not run its parent's handlers") {
    std::array<int, 2> pair{}, tale{};
    REQUIRE(::pipe(pair.data()) == 0);
    REQUIRE(::pipe2(tale.data(), O_NONBLOCK) == 0);
    const base::UniqueFd in(pair[0]), out(pair[1]), hear(tale[0]), tell(tale[1]);
    REQUIRE(::write(out.get(), "x", 1) == 1);
    told = tell.get();
    const auto before = std::signal(SIGTERM, [](int) { static_cast<void>(!::write(told, "!", 1)); });
    for (int i = 0; i < test::trials(200); ++i)
        static_cast<void>(run_apart([]() -> base::Expected<std::string> { return std::string(); },
                                    test::patience(), in.get()));
    std::signal(SIGTERM, before);
    char byte = 0;
    CHECK(::read(hear.get(), &byte, 1) == -1);
}
