// The best hosts for a request (the objective of place.hpp), from the smallest tier upwards.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

#include <optional>

namespace sched {

// Nullopt if the request does not fit. Exact while the budget lasts; after that, the best found so far, and
// the largest parts first of what was not searched yet: there is always a result for a gang that fits
// (fit.hpp).
std::optional<Found> search(const Loads& loads, Budget& budget);

} // namespace sched
