// Alignment if candidates lack rails, or few of them meet elsewhere than most do.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

namespace sched {

// Replaces `found`, the best choice of its tier with its misaligned rails counted, by the best one with as
// few pods and units and fewer misaligned rails; leaves it unchanged if there is none. False, with nothing
// done: in some part of the tier as many candidates as the gang has meet elsewhere than most do, and the
// others are worse in the terms after rails; or candidates lack rails in too many combinations.
bool align_lacking(const Loads& loads, Found& found, Budget& budget);

} // namespace sched
