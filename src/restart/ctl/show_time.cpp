#include "restart/ctl/show_time.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart {

std::string when(base::Time time, base::Time now) {
    const auto text =
        base::moment(time, now) + base::clock_time(time).substr(5); // which includes the seconds
    if (text.size() > 8) return text;                               // on another day
    return fmt::format("{}.{}", text, time.time_since_epoch() / std::chrono::milliseconds(100) % 10);
}

std::string lasting(base::Duration duration) {
    return base::human_duration(std::max(duration, base::Duration::zero()));
}

} // namespace restart
