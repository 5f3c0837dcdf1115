// Rail alignment on irregular fabrics: hosts with missing rails, crossed cables or foreign leaves.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

#include <cstdint>
#include <vector>

namespace sched {

// Those hosts of one part of the tier that determine which rails meet there, in their order: all irregular
// ones, and the first of the others, whose rails meet at the same places.
std::vector<std::uint32_t> telling_hosts(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts,
                                         Tier tier);

// The number of rails whose HCAs do not all meet within the tier, over these hosts; a missing HCA meets
// nothing.
std::uint32_t misaligned_rails(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts,
                               Tier tier);

// Replaces `found`, the best without regard to rails, by the best of the same tier, pods and units with the
// fewest misaligned rails, and counts them. Stops when the budget is spent, or after about a thousand sets of
// rails to give up: the result is then the best found so far.
void align(const Loads& loads, Found& found, Budget& budget);

} // namespace sched
