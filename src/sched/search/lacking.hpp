// Alignment where candidates lack rails, or few of them meet elsewhere than most do.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

namespace sched {

// Replaces `found`, the best choice of its tier with its misaligned rails counted, by one of as few pods and
// units with fewer misaligned rails, and of those the best; leaves it when there is none. False: of
// some part of the tier as many candidates as the gang has meet elsewhere than most do, and the others are
// worse in what counts behind rails; or candidates lack rails in too many combinations. Nothing was done.
bool align_lacking(const Loads& loads, Found& found, Budget& budget);

} // namespace sched
