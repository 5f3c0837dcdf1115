// A moment in JSON as people's scripts get it.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/json.hpp"

#include <string_view>

namespace base {

// The member `key`: text as iso_time() has it, or the number of seconds since the epoch, as earlier releases
// wrote it. Errors: as those of Reader, naming the place.
Expected<Time> read_time(const Reader& from, std::string_view key);

} // namespace base
