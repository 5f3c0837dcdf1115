// A point in time as a user types it.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <string_view>

namespace base {

// "2026-03-01T14:20:05", the seconds optional, with or without a fraction: local time, or UTC with a trailing
// Z, as iso_time() prints it. Digits beyond milliseconds are cut off. Errors: Code::input, naming the text
// and the form.
Expected<Time> parse_time(std::string_view text);

} // namespace base
