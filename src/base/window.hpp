// A maintenance window as written in railyard.conf, in wall clock time.
//
//   "Sun 02:00-06:00"                          weekly; "daily", or several days: "Sat,Sun 02:00-06:00"
//   "Sat 22:00-04:00 n[001-032]"               past midnight; of these hosts only
//   "2026-12-24 18:00 to 2026-12-27 06:00"     once
//
// The wall clock counts, not elapsed time: when clocks are set forward, the skipped part of a window is lost;
// when they are set back, a window that includes the repeated hour is an hour longer.
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
    std::vector<std::string> hosts; // empty: all
    std::array<bool, 7> days{};     // days on which it begins, Sunday first; empty: once
    int from = 0, to = 0;           // minutes of the day; `to` <= `from`: on the next day
    std::string begin, end;         // once: "2026-12-24 18:00", the end is exclusive

    // Whether the window is open at this local time.
    bool holds(const std::tm& local) const;
};

// Errors (Code::input) explain what is wrong with the text.
Expected<Window> parse_window(std::string_view text);

} // namespace base
