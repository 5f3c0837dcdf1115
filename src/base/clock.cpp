#include "base/clock.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace base {

Duration duration_from_seconds(double seconds) {
    constexpr double limit = 9.0e15; // milliseconds; far beyond any date, inside int64
    const double ms = std::isfinite(seconds) ? std::round(seconds * 1000.0) : 0.0;
    return Duration(static_cast<Duration::rep>(std::fmin(std::fmax(ms, -limit), limit)));
}

Time time_from_seconds(double seconds) {
    return Time(duration_from_seconds(seconds));
}

std::string iso_time(Time t) {
    const auto since = t.time_since_epoch();
    const auto whole = std::chrono::floor<std::chrono::seconds>(since);
    const std::time_t seconds = static_cast<std::time_t>(whole.count());
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, (since - whole).count());
}

namespace {

std::tm local(Time t) {
    const std::time_t seconds =
        static_cast<std::time_t>(std::chrono::floor<std::chrono::seconds>(t.time_since_epoch()).count());
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
}

} // namespace

std::string clock_time(Time t) {
    const auto parts = local(t);
    return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string moment(Time t, Time now) {
    const auto parts = local(t), today = local(now);
    const auto clock = fmt::format("{:02}:{:02}", parts.tm_hour, parts.tm_min);
    if (parts.tm_year == today.tm_year && parts.tm_yday == today.tm_yday) return clock;
    return fmt::format("{:04}-{:02}-{:02} {}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, clock);
}

} // namespace base
