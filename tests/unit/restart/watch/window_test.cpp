#include "restart/watch/window.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using restart::Growth;
using restart::Hold;

namespace {

const base::Time start{std::chrono::seconds(1'700'000'000)};

// One look a second; '#' is presence. Returns 'F' for each look after which it fires.
std::string looks(Hold& hold, std::string_view pattern, base::Duration window, base::Duration clear) {
    std::string fired;
    base::Time now = start;
    for (const char c : pattern) {
        hold.look(now, c == '#', window, clear, 3s);
        fired += hold.firing() ? 'F' : '.';
        now += 1s;
    }
    return fired;
}

} // namespace

TEST_CASE("a condition fires when it has held for its window, not before") {
    Hold hold;
    CHECK(looks(hold, "..#######", 5s, 30s) == ".......FF");
    CHECK(hold.since() == start + 2s);
}

TEST_CASE("a window of zero fires at the first look") {
    Hold hold;
    CHECK(looks(hold, ".#..", 0s, 2s) == ".FF.");
}

TEST_CASE("firing ends after the time of absence, and a single presence starts that time anew") {
    Hold hold;
    CHECK(looks(hold, "###..#....", 2s, 3s) == "..FFFFFF..");
}

TEST_CASE("a flickering condition fires later, one that is there half of the time never") {
    Hold mostly, half;
    CHECK(looks(mostly, "####.####.####", 5s, 30s).find('F') != std::string::npos);
    CHECK(looks(half, "#.#.#.#.#.#.#.#.#.#.#.#.#.#.", 5s, 30s).find('F') == std::string::npos);
}

TEST_CASE("time in which nobody looked counts only a little") {
    Hold hold;
    hold.look(start, true, 60s, 30s, 3s);
    hold.look(start + 1h, true, 60s, 30s, 3s);
    CHECK_FALSE(hold.firing());
}

TEST_CASE("a clock that goes back changes nothing") {
    Hold hold;
    hold.look(start, true, 2s, 30s, 3s);
    hold.look(start - 1h, true, 2s, 30s, 3s);
    CHECK_FALSE(hold.firing());
    hold.look(start - 1h + 2s, true, 2s, 30s, 3s);
    CHECK(hold.firing());
}

TEST_CASE("growth begins at the first value and forgets after its period") {
    Growth growth(10s);
    CHECK(growth.take(start, 1'000'000) == 0);
    CHECK_FALSE(growth.since());
    CHECK(growth.take(start + 1s, 1'000'003) == 3);
    CHECK(growth.since() == start + 1s);
    CHECK(growth.take(start + 5s, 1'000'004) == 4);
    CHECK(growth.take(start + 11s, 1'000'004) == 1);
    CHECK(growth.take(start + 15s, 1'000'004) == 0);
}

TEST_CASE("a counter that falls was reset, or has wrapped: growth begins anew there") {
    Growth growth(10s);
    growth.take(start, 500);
    CHECK(growth.take(start + 1s, 0) == 0);
    CHECK(growth.take(start + 2s, 7) == 7);
    CHECK(growth.take(start + 3s, 2) == 7);
    CHECK(growth.take(start + 4s, 5) == 10);
    Growth wrapped(10s);
    wrapped.take(start, 0xffff'fff0U);
    CHECK(wrapped.take(start + 1s, 3) == 0);
    CHECK(wrapped.take(start + 2s, 5) == 2);
}

TEST_CASE("a counter that was misread once is no growth") {
    Growth growth(1h);
    growth.take(start, 70'000);
    CHECK(growth.take(start + 1s, 0) == 0);
    CHECK(growth.take(start + 2s, 70'001) == 1);
    CHECK(growth.take(start + 3s, 0) == 1);
    CHECK(growth.take(start + 4s, 3) == 4); // as after a reset …
    CHECK(growth.take(start + 5s, 0) == 4);
    CHECK(growth.take(start + 6s, 70'002) == 5); // … until it is back
    // After a minute it was a reset, and there it grew.
    CHECK(growth.take(start + 10s, 0) == 5);
    CHECK(growth.take(start + 70s, 70'010) == 70'015);
}

TEST_CASE("a counter at its end, and a device that answers with ones, have no value") {
    for (const auto ones : {std::uint64_t{0xffff'ffff}, ~std::uint64_t{0}}) {
        Growth growth(1h);
        CHECK(growth.take(start, ones) == 0);
        growth.take(start + 1s, 1000);
        CHECK(growth.take(start + 2s, ones) == 0);
        CHECK(growth.take(start + 3s, 1002) == 2);
    }
    Growth saturated(1h);
    saturated.take(start, 65'535);
    CHECK(saturated.take(start + 1s, 65'535) == 0);
    CHECK(saturated.take(start + 2s, 0) == 0);
}

TEST_CASE("what a counter did while nobody could read it is not growth") {
    Growth growth(1h);
    growth.take(start, 10);
    CHECK(growth.take(start + 1s, 12) == 2);
    growth.interrupt();
    CHECK(growth.take(start + 5s, 5000) == 2);
    CHECK(growth.take(start + 6s, 5001) == 3);
}

TEST_CASE("growth at every look needs bounded steps and keeps its sum") {
    Growth growth(1h);
    std::uint64_t grown = 0;
    for (int i = 0; i <= 3600 * 3; ++i)
        grown = growth.take(start + std::chrono::seconds(i), static_cast<std::uint64_t>(i));
    CHECK(grown <= 3600);
    CHECK(grown >= 3600 - 60); // by a 64th of the period
}
