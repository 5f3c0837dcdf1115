// Times as railctl prints them.
#pragma once

#include "base/clock.hpp"

#include <string>

namespace restart {

// "14:20:05.1" today, "2026-03-01 14:20:05" on other days.
std::string when(base::Time time, base::Time now);

// "1 h 54 min"; negative values as 0.
std::string lasting(base::Duration duration);

} // namespace restart
