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

TEST_CASE("a counter that falls was reset: what it shows now is growth") {
    Growth growth(10s);
    growth.take(start, 500);
    CHECK(growth.take(start + 1s, 0) == 0);
    CHECK(growth.take(start + 2s, 7) == 7);
    CHECK(growth.take(start + 3s, 2) == 9);
}

TEST_CASE("growth at every look needs bounded steps and keeps its sum") {
    Growth growth(1h);
    std::uint64_t grown = 0;
    for (int i = 0; i <= 3600 * 3; ++i)
        grown = growth.take(start + std::chrono::seconds(i), static_cast<std::uint64_t>(i));
    CHECK(grown <= 3600);
    CHECK(grown >= 3600 - 60); // by a 64th of the period
}
