// The best hosts for a request within one tier, ignoring rails.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/choose.hpp"
#include "sched/search/found.hpp"

#include <cstdint>
#include <optional>

namespace sched {

// The best choice within one tier, without hosts (fill_hosts). Nullopt if no part of that tier holds the
// gang. `limits` save work; a choice that exceeds them may be found or not.
std::optional<Found> search_tier(const Loads& loads, Tier tier, Budget& budget, const Limits& limits = {});

} // namespace sched
