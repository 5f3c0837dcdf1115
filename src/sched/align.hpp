// Rail alignment on irregular fabrics: hosts with missing rails, crossed cables or foreign leaves.
#pragma once

#include "sched/search.hpp"

namespace sched {

// What a choice may use at most; more counts as not fitting. Saves work, need not be kept exactly.
struct Limits {
    std::uint32_t pods = ~std::uint32_t{0};
    std::uint32_t units = ~std::uint32_t{0};
};

// The best choice within one tier, rails disregarded; without hosts. Defined in search.cpp.
std::optional<Found> search_tier(const Loads& loads, Tier tier, Budget& budget, Limits limits = {});
void fill_hosts(const Loads& loads, Found& found);

// Rails whose HCAs do not all meet within the tier, over these hosts; a missing HCA meets nothing.
std::uint32_t misaligned_rails(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts,
                               Tier tier);

// Replaces `found`, the best with rails disregarded, by the best of the same tier, pods and units that has
// the fewest misaligned rails, and counts them. Stops when the budget is spent, or after some thousand ways
// to give rails up: then the best found so far stands.
void align(const Loads& loads, Found& found, Budget& budget);

} // namespace sched
