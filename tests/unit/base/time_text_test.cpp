#include "base/time_text.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

TEST_CASE("a time is read as it is printed, and as Slurm prints local time") {
    const auto at = base::Time(1'772'374'805'123ms);
    CHECK(*base::parse_time(base::iso_time(at)) == at);
    CHECK(*base::parse_time("2026-03-01T14:20:05.123Z") == at);
    CHECK(*base::parse_time("2026-03-01T14:20:05.1239Z") == at);
    CHECK(*base::parse_time("2026-03-01T14:20:05.1Z") == at - 23ms);
    CHECK(*base::parse_time("2026-03-01T14:20:05Z") == at - 123ms);
    CHECK(*base::parse_time("2026-03-01T14:20Z") == at - 5123ms);
    const auto local = base::parse_time("2026-03-01T14:20:05");
    REQUIRE(local);
    CHECK(base::clock_time(*local) == "14:20:05");
    CHECK(*base::parse_time("2024-02-29T00:00Z") == *base::parse_time("2024-03-01T00:00Z") - 24h);
}

TEST_CASE("what is no time is refused") {
    for (const auto* text :
         {"", "now", "14:20", "2026-03-01", "2026-03-01 14:20", "2026-3-1T14:20", "2026-02-29T14:20Z",
          "2026-13-01T14:20", "2026-03-01T24:20", "2026-03-01T14:60", "2026-03-01T14:20:60",
          "2026-03-01T14:20:5", "2026-03-01T14:20:05.", "2026-03-01T14:20:05z", "2026-03-01T14:20:05+01:00",
          "2026-03-01T14:20:05Z ", "+026-03-01T14:20", "2026-03-01T14: 2"}) {
        INFO(text);
        CHECK_FALSE(base::parse_time(text));
    }
    CHECK(base::parse_time("soon").error().text.find("\"soon\"") != std::string::npos);
}
