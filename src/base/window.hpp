// A window of maintenance as railyard.conf has it, by the wall clock.
//
//   "Sun 02:00-06:00"                          weekly; "daily", or several days: "Sat,Sun 02:00-06:00"
//   "Sat 22:00-04:00 n[001-032]"               past midnight; of these hosts only
//   "2026-12-24 18:00 to 2026-12-27 06:00"     once
//
// The wall clock counts, not time passed: where clocks are set forward what is left out is left out, where
// they are set back a window that holds the repeated hour is an hour longer.
#pragma once

#include "base/expected.hpp"

#include <array>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace base {

struct Window {
    std::string text;               // as written
    std::vector<std::string> hosts; // none: all
    std::array<bool, 7> days{};     // that it begins on, Sunday first; none: once
    int from = 0, to = 0;           // minutes of the day; `to` not above `from` is of the next day
    std::string begin, end;         // once: "2026-12-24 18:00", the end not included

    // Whether it is open at this local time.
    bool holds(const std::tm& local) const;
};

// Errors (Code::input) say what is wrong with the text.
Expected<Window> parse_window(std::string_view text);

} // namespace base
