// Time in this project: milliseconds since the Unix epoch. Pure code takes `now` as an argument; only the
// edges read a clock.
#pragma once

#include <chrono>
#include <string>

namespace base {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::sys_time<Duration>;

inline Time now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

// Seconds since the epoch, as used in JSON bodies.
inline double to_seconds(Time t) {
    return std::chrono::duration<double>(t.time_since_epoch()).count();
}
inline double to_seconds(Duration d) {
    return std::chrono::duration<double>(d).count();
}
Time time_from_seconds(double seconds);
Duration duration_from_seconds(double seconds);

// "2026-03-01T14:20:05.123Z" (UTC), and the time of day only, in local time: "14:20:05".
std::string iso_time(Time t);
std::string clock_time(Time t);
// To the minute, in local time: "14:20", or "2026-03-01 14:20" when it is on another day than `now`.
std::string moment(Time t, Time now);

} // namespace base
