#include "restart/ctl/show_time.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

namespace restart {

std::string when(base::Time time, base::Time now) {
    const auto local = [](base::Time moment) {
        const auto whole = std::chrono::system_clock::to_time_t(moment);
        std::tm parts{};
        ::localtime_r(&whole, &parts);
        return parts;
    };
    const auto then = local(time);
    const auto today = local(now);
    char text[32];
    if (then.tm_year == today.tm_year && then.tm_yday == today.tm_yday) {
        std::strftime(text, sizeof text, "%H:%M:%S", &then);
        return fmt::format("{}.{}", text, time.time_since_epoch() / std::chrono::milliseconds(100) % 10);
    }
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &then);
    return text;
}

std::string lasting(base::Duration duration) {
    return base::human_duration(std::max(duration, base::Duration::zero()));
}

} // namespace restart
