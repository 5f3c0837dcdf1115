#include "sched/search/search.hpp"

#include "sched/search/align.hpp"
#include "sched/search/search_tier.hpp"

namespace sched {

std::optional<Found> search(const Loads& loads, Budget& budget) {
    const auto widest = widest_tier(loads.request().span);
    for (std::uint32_t tier = one_unit; tier <= widest; ++tier) {
        auto found = search_tier(loads, static_cast<Tier>(tier), budget);
        if (!found) continue;
        fill_hosts(loads, *found);
        align(loads, *found, budget);
        return found;
    }
    return std::nullopt;
}

} // namespace sched
