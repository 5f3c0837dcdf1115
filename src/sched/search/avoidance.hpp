// The penalty for a host's impaired health, in whole thousandths (Loads::avoidance).
#pragma once

#include "sched/search/loads.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sched {

// `health` from 0 to 1.
inline std::uint32_t avoidance_of(float health) {
    const auto from = std::max(health, 0.0F);
    return static_cast<std::uint32_t>(std::lround((1.0F - from) * static_cast<float>(avoidance_unit)));
}

} // namespace sched
