// Time as the project keeps it: milliseconds since the Unix epoch. Pure code is given `now`; only edges
// read a clock.
#pragma once

#include <chrono>
#include <string>

namespace base {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::sys_time<Duration>;

inline Time now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

// Seconds since the epoch, as JSON bodies carry them.
inline double to_seconds(Time t) {
    return std::chrono::duration<double>(t.time_since_epoch()).count();
}
inline double to_seconds(Duration d) {
    return std::chrono::duration<double>(d).count();
}
Time time_from_seconds(double seconds);
Duration duration_from_seconds(double seconds);

// "2026-03-01T14:20:05.123Z" (UTC), and the clock's part alone in local time: "14:20:05".
std::string iso_time(Time t);
std::string clock_time(Time t);
// To the minute, in local time: "14:20", "2026-03-01 14:20" when that is not the day of `now`.
std::string moment(Time t, Time now);

} // namespace base
