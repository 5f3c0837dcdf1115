#include "base/conf.hpp"
#include "base/window.hpp"

#include <catch2/catch.hpp>

using base::parse_window;

namespace {

// A local time; the day of the week follows from the date.
std::tm at(int year, int month, int day, int hour, int minute) {
    std::tm local{};
    local.tm_year = year - 1900;
    local.tm_mon = month - 1;
    local.tm_mday = day;
    local.tm_hour = hour;
    local.tm_min = minute;
    auto copy = local;
    ::timegm(&copy);
    local.tm_wday = copy.tm_wday;
    return local;
}

bool holds(std::string_view text, const std::tm& local) {
    const auto window = parse_window(text);
    INFO(text);
    REQUIRE(window);
    return window->holds(local);
}

} // namespace

TEST_CASE("a weekly window is open from its first minute to before its last, on its days") {
    const auto* text = "Sun 02:00-06:00"; // 2026-11-22 is a Sunday
    CHECK_FALSE(holds(text, at(2026, 11, 22, 1, 59)));
    CHECK(holds(text, at(2026, 11, 22, 2, 0)));
    CHECK(holds(text, at(2026, 11, 22, 5, 59)));
    CHECK_FALSE(holds(text, at(2026, 11, 22, 6, 0)));
    CHECK_FALSE(holds(text, at(2026, 11, 23, 3, 0)));
    CHECK(holds("Sat,Sun 02:00-06:00", at(2026, 11, 21, 3, 0)));
    CHECK(holds("daily 00:00-24:00", at(2026, 11, 24, 23, 59)));
}

TEST_CASE("a window past midnight is of the day that it begins on") {
    const auto* text = "Sat 22:00-04:00";
    CHECK_FALSE(holds(text, at(2026, 11, 21, 3, 0)));
    CHECK(holds(text, at(2026, 11, 21, 22, 0)));
    CHECK(holds(text, at(2026, 11, 22, 3, 59)));
    CHECK_FALSE(holds(text, at(2026, 11, 22, 4, 0)));
    CHECK_FALSE(holds(text, at(2026, 11, 22, 22, 0)));
}

TEST_CASE("a dated window is open once") {
    const auto* text = "2026-12-24 18:00 to 2027-01-02 06:00";
    CHECK_FALSE(holds(text, at(2026, 12, 24, 17, 59)));
    CHECK(holds(text, at(2026, 12, 24, 18, 0)));
    CHECK(holds(text, at(2027, 1, 2, 5, 59)));
    CHECK_FALSE(holds(text, at(2027, 1, 2, 6, 0)));
    CHECK_FALSE(holds(text, at(2027, 12, 25, 0, 0)));
}

TEST_CASE("a window's hosts stand behind it") {
    const auto window = parse_window("Sun 02:00-06:00 n[001-003]");
    REQUIRE(window);
    CHECK(window->hosts == std::vector<std::string>{"n001", "n002", "n003"});
    CHECK(window->text == "Sun 02:00-06:00 n[001-003]");
    CHECK(parse_window("daily  02:00-03:00")->hosts.empty());
}

TEST_CASE("what is no window is refused with file and line") {
    for (const char* text :
         {"", "Sun", "Sunday 02:00-06:00", "Sun 2:00-6:00", "Sun 02:00-25:00", "Sun 02:60-03:00",
          "Sun 24:00-03:00", "Sun 02:00-02:00", "Sun 02:00 - 06:00", "2026-12-24 18:00", "Sun, 02:00-06:00",
          "2026-13-24 18:00 to 2026-12-27 06:00", "2026-02-29 18:00 to 2026-12-27 06:00",
          "2026-12-28 18:00 to 2026-12-27 06:00", "Sun 02:00-06:00 n001 n002", "Sun 02:00-06:00 n[001"}) {
        INFO(text);
        CHECK_FALSE(parse_window(text));
    }
    const auto conf =
        base::Conf::from_text("[restartd]\nmaintenance = [\n  \"Sun 02:00-06:00\",\n  \"Son 1-2\"\n]\n", "f");
    REQUIRE_FALSE(conf);
    CHECK_THAT(conf.error().text,
               Catch::StartsWith("f:4: restartd.maintenance: \"Son 1-2\" is no window: write"));
}
