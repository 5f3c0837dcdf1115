// Segments and spares together: segments lie whole within units, spares stand wherever a host is left.
//
// Of each unit a choice uses `a` segments and `b` spares, a·segment + b hosts. A dynamic programme over
// (segments placed, spares placed), unit by unit, is exact; it costs units × segments × spares × options,
// some ms for a gang of 512 hosts on 4,096. Beyond a bound of work the spares are counted as whole segments,
// which may use a unit more than needed.
#pragma once

#include "sched/search.hpp"

namespace sched {

// The best choice in one tier, one_pod or wider; rails disregarded; without hosts. For loads.segmented().
std::optional<Found> search_segmented(const Loads& loads, Tier tier);

} // namespace sched
