// Segments and spares over pods: the fewest pods that hold them and, in that many pods, the fewest units.
//
// In a pod, units with required hosts must be used; of the others the largest are best, since a larger one
// holds at least as many whole segments. So a pod has one point (segments, hosts) for each number of its
// units, and a choice is how many units of which pods. Lower bounds come from weighing segments against hosts
// (Lagrange), upper bounds from the sets that these weights prefer. If they differ, labels (units, segments,
// hosts) decide, pod by pod; a label is dropped if another is no worse or a bound excludes it. Labels cost as
// much as the budget allows; without them there is at most one pod too many, and the units are those already
// found.
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
    std::uint32_t units = 0;         // the first `units` of their covering_order() hold the gang
};

// The units of these pods that have candidates: those with required hosts, then the largest; of equals the
// healthiest, then those that are not whole.
std::vector<std::uint32_t> covering_order(const Loads& loads, std::span<const std::uint32_t> pods);

// Over pods [first, first + size); for loads.segmented(). Nothing: they do not hold the gang, or all required
// hosts. fit.hpp decides whether it has enough segments and spares for these.
std::optional<Cover> cover(const Loads& loads, std::uint32_t first, std::uint32_t size, Budget& budget);

} // namespace sched
