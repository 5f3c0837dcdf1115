// From the smallest tier upwards: the best hosts for a request (the objective of place.hpp).
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

#include <optional>

namespace sched {

// Nullopt when the request does not fit. Exact while the budget lasts; then the best found so far, and of
// what was not searched yet the largest parts first: never nothing for a gang that fits (fit.hpp).
std::optional<Found> search(const Loads& loads, Budget& budget);

} // namespace sched
