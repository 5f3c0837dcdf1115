// From the smallest tier upwards: the best hosts for a request (the objective of place.hpp).
#pragma once

#include "sched/budget.hpp"
#include "sched/choose.hpp"
#include "sched/loads.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// The parts that a tier confines a gang to.
enum Tier : std::uint32_t { one_unit = 0, one_pod = 1, one_island = 2, everywhere = 3 };

// The largest tier that a span allows.
Tier widest_tier(Span span);

struct Found {
    Tier tier = one_unit;
    std::uint32_t pods = 0;
    std::uint32_t units = 0;
    std::uint32_t misaligned = 0;
    std::uint64_t avoidance = 0; // thousandths
    std::uint32_t broken = 0;
    std::uint32_t left = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> taken; // unit and how many hosts of it, ascending
    std::vector<std::uint32_t> hosts;                           // in the order of PlacementIndex::order
};

// The largest node count of a request's range that is not above `most`: whole segments beside the spares, and
// not spares alone. Nothing: there is none. The range's lower end is for the caller to look at.
std::optional<std::uint32_t> nodes_at_most(const Request& request, std::uint32_t most);

// Nullopt when the request does not fit. Exact while the budget lasts; then the best found so far, and of
// what was not searched yet the largest parts first: never nothing for a gang that fits (fit.hpp).
std::optional<Found> search(const Loads& loads, Budget& budget);

} // namespace sched
