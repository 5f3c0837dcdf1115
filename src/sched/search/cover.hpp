// Segments and spares over pods: the fewest pods that hold them and, in so many pods, the fewest units.
//
// Of the units in a pod those with required hosts must be in; of the others the largest are best, since a
// larger one holds no fewer whole segments. So a pod has one point (segments, hosts) for each number of its
// units, and a choice is how many units of which pods. Lower bounds come from weighing segments against hosts
// (Lagrange), upper ones from the sets which these weights prefer; where they differ, labels (units,
// segments, hosts) decide, pod by pod, dropped when another label is no worse or a bound shows that they
// cannot finish. Labels cost what the budget allows; without them pods are at most one too many, and units
// those that were found.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/loads.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sched {

struct Cover {
    std::vector<std::uint32_t> pods; // ascending
    std::uint32_t units = 0;         // so many of their covering_order(), the first ones, hold the gang
};

// The units of these pods that have candidates: with required hosts, then the largest; of equals the
// soundest, then those that are not whole.
std::vector<std::uint32_t> covering_order(const Loads& loads, std::span<const std::uint32_t> pods);

// Over pods [first, first + size); for loads.segmented(). Nothing: they do not hold the gang, or not all of
// the required hosts. fit.hpp decides whether the gang has enough segments and spares for those.
std::optional<Cover> cover(const Loads& loads, std::uint32_t first, std::uint32_t size, Budget& budget);

} // namespace sched
