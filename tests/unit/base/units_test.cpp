#include "base/units.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

TEST_CASE("durations are numbers with a unit") {
    CHECK(*base::parse_duration("250ms") == 250ms);
    CHECK(*base::parse_duration("5s") == 5s);
    CHECK(*base::parse_duration("1.5h") == 90min);
    CHECK(*base::parse_duration("2d") == 48h);
    CHECK(*base::parse_duration("0s") == 0s);
    for (const auto* text : {"", "5", "s", "-5s", "5 s", "5x", "1e3s", "1..2s", "99999999999999999999d"}) {
        INFO(text);
        CHECK_FALSE(base::parse_duration(text));
    }
}

TEST_CASE("a printed duration is read back exactly") {
    for (const auto d : {0ms, 1ms, 999ms, 1000ms, 61000ms, 90 * 60000ms, 86400000ms, 86400001ms})
        CHECK(*base::parse_duration(base::format_duration(d)) == d);
    CHECK(base::format_duration(90min) == "90m");
}

TEST_CASE("durations for people") {
    CHECK(base::human_duration(5230ms) == "5.2 s");
    CHECK(base::human_duration(200s) == "3 min 20 s");
    CHECK(base::human_duration(125min) == "2 h 5 min");
    CHECK(base::human_duration(99h) == "4 d 3 h");
}

TEST_CASE("counts and numbers take the whole text") {
    CHECK(*base::parse_count("42") == 42);
    CHECK_FALSE(base::parse_count("42 "));
    CHECK_FALSE(base::parse_count("-1"));
    CHECK(*base::parse_number("0.5") == 0.5);
    CHECK_FALSE(base::parse_number("nan"));
    CHECK_FALSE(base::parse_number("1x"));
}
