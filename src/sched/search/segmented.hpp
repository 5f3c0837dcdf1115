// Segments and spares together: segments are whole within units, spares are wherever a host is left.
//
// Usually it is sufficient to count hosts, or segments (one_measure.hpp), or, in one pod, units. Otherwise
// the pods and units are as few as cover.hpp finds, some units are exchanged for others that leave less over
// (tighten.hpp), and the hosts are distributed over them, healthy ones first and wholly free units last: if
// that leaves nothing over, nothing is better. If it does, and immediately if it is little work, a dynamic
// program over (segments placed, spares placed), unit by unit, is exact in all terms: of each unit a choice
// uses `a` segments and `b` spares, a·segment + b hosts. It costs units × segments × spares × options, which
// may exceed the budget.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

#include <functional>
#include <optional>

namespace sched {

// The best choice in one tier; ignoring rails; without hosts. For loads.idle_bound(), and in tiers wider than
// one_unit for loads.segmented(), for a gang that is known to have room for the required hosts (fit.hpp).
// nullopt: no part of that tier holds it. `ordinary`: the search of that tier for this many hosts, which
// ignores segments.
std::optional<Found> search_segmented(const Loads& loads, Tier tier, Budget& budget,
                                      const std::function<std::optional<Found>(Budget&)>& ordinary);

} // namespace sched
