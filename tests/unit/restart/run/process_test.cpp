#include "restart/run/process.hpp"

#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <optional>

using namespace restart::run;

namespace {
std::optional<int> end_of(Process& process) {
    std::optional<int> status;
    test::eventually([&] {
        status = process.reap();
        return status.has_value();
    });
    return status;
}
} // namespace

TEST_CASE("a process ends with its status, or 128 and its signal") {
    Process process;
    REQUIRE(process.start({{"sh", "-c", "exit 7"}, {}, {}}));
    CHECK(end_of(process) == 7);
    CHECK_FALSE(process.runs());
    REQUIRE(process.start({{"sleep", "600"}, {}, {}}));
    CHECK_FALSE(process.reap());
    process.send(SIGTERM);
    CHECK(end_of(process) == 128 + SIGTERM);
}

TEST_CASE("its words reach it as they are, and no shell") {
    Process process;
    REQUIRE(process.start({{"test", "$(exit 1); `exit 1`", "=", "$(exit 1); `exit 1`"}, {}, {}}));
    CHECK(end_of(process) == 0);
}

TEST_CASE("its environment is ours with the changes") {
    ::setenv("RAILRUN_TEST_KEPT", "kept", 1);
    ::setenv("RAILRUN_TEST_GONE", "gone", 1);
    Process process;
    const Started started{
        {"sh", "-c", R"(test "$RAILRUN_TEST_KEPT:$RAILRUN_TEST_GONE:$RAILRUN_TEST_NEW" = "kept::a b")"},
        {{"RAILRUN_TEST_GONE", std::nullopt}, {"RAILRUN_TEST_NEW", "a b"}},
        {}};
    REQUIRE(process.start(started));
    CHECK(end_of(process) == 0);
}

TEST_CASE("a command that is not there is named") {
    Process process;
    const auto started = process.start({{"no-such-launcher"}, {}, {}});
    REQUIRE_FALSE(started);
    CHECK(started.error().code == base::Code::not_found);
    CHECK_THAT(started.error().text, Catch::StartsWith("no-such-launcher"));
    CHECK_FALSE(process.runs());
}
