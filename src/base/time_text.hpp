// A moment as it is typed.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <string_view>

namespace base {

// "2026-03-01T14:20:05", the seconds optional and with a fraction or without: in local time, or with a Z
// behind it in UTC, as iso_time() prints it. Digits beyond milliseconds are cut. Errors: Code::input, naming
// the text and the form.
Expected<Time> parse_time(std::string_view text);

} // namespace base
