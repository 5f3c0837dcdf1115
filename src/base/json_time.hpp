// A point in time in JSON, as users' scripts see it.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/json.hpp"

#include <string_view>

namespace base {

// The member `key`: text as written by iso_time(), or the number of seconds since the epoch, as written by
// earlier releases. Errors: those of Reader, naming the place.
Expected<Time> read_time(const Reader& from, std::string_view key);

} // namespace base
