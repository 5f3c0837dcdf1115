// Segments and spares together: segments lie whole within units, spares stand wherever a host is left.
//
// Mostly it is enough to count hosts, or segments (one_measure.hpp), or, in one pod, units. Else the pods and
// units are as few as cover.hpp finds, some units are exchanged for others that leave less over
// (tighten.hpp), and the hosts are distributed over them, healthy ones first and wholly free units last:
// nothing is better where that leaves nothing over. Otherwise, and at once where it is little work, a dynamic
// program over (segments placed, spares placed), unit by unit, is exact in all terms: of each unit a choice
// uses `a` segments and `b` spares, a·segment + b hosts. It costs units × segments × spares × options, which
// the budget may not have.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

#include <functional>
#include <optional>

namespace sched {

// The best choice in one tier; rails disregarded; without hosts. For loads.idle_bound(), and in tiers wider
// than one_unit for loads.segmented(), of a gang that is known to have room for the required hosts (fit.hpp).
// nullopt: no part of that tier holds it. `ordinary`: the search of that tier for so many hosts, which knows
// nothing of segments.
std::optional<Found> search_segmented(const Loads& loads, Tier tier, Budget& budget,
                                      const std::function<std::optional<Found>(Budget&)>& ordinary);

} // namespace sched
