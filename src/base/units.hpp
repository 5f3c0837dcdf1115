// Numbers with units, read from options and configuration, and formatted for users.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace base {

// "250ms", "5s", "10m", "2h", "1d"; a fraction is allowed ("1.5h"), a bare number is not (its unit would be
// ambiguous). Negative values are refused. Errors: Code::input, naming the text and what is allowed.
Expected<Duration> parse_duration(std::string_view text);

// The shortest exact form that parse_duration reads back: "5s", "250ms", "90m".
std::string format_duration(Duration d);

// For display: "5.2 s", "3 min 20 s", "2 h 5 min", "4 d 3 h".
std::string human_duration(Duration d);

// A whole non-negative decimal number that fits; nothing before or after it.
Expected<std::uint64_t> parse_count(std::string_view text);

// A finite decimal number; nothing before or after it.
Expected<double> parse_number(std::string_view text);

} // namespace base
