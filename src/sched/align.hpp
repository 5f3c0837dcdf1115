// Rail alignment on irregular fabrics: hosts with missing rails, crossed cables or foreign leaves.
#pragma once

#include "sched/search.hpp"

namespace sched {

// The best choice within one tier, rails disregarded; without hosts. Defined in search.cpp.
std::optional<Found> search_tier(const Loads& loads, Tier tier);
void fill_hosts(const Loads& loads, Found& found);

// Rails whose HCAs do not all meet within the tier, over these hosts; a missing HCA meets nothing.
std::uint32_t misaligned_rails(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts,
                               Tier tier);

// Replaces `found`, the best with rails disregarded, by the best of the same tier, pods and units that has
// the fewest misaligned rails, and counts them.
void align(const Loads& loads, Found& found);

} // namespace sched
