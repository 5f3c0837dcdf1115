// Which host of an allocation runs which ranks, and which are spares. sched::place uses it for the order it
// returns, and spank_rail.so on the node for the order it hands to the launcher: both must agree.
#pragma once

#include "sched/ask/index.hpp"
#include "sched/ask/request.hpp"
#include "sched/ask/segments.hpp"

#include <cstdint>
#include <vector>

namespace sched {

struct RankedHosts {
    std::vector<std::uint32_t> ranks;  // hosts in rank order
    std::vector<std::uint32_t> spares; // in the fabric's order
};

// Ring: by island, pod, unit and host (PlacementIndex::order), so that a ring over the ranks leaves each unit
// once. Tree: the same with the pods and, within them, the units of most ranks first, so that the halves of a
// binary tree fall between units; of equals the first. None: ascending host index.
//
// `sizes`: of segments, smallest first (sizes_of); none: hosts are ordered one by one.
//
// Spares are, in each unit, the hosts that no whole segment takes, then, one (or one segment) at a time, the
// last host of the unit with most ranks left; of equals of the last. Where segments are kept whole in domains
// or pods, too (segments.hpp), so it is in each of these, and the last of the pod, in it the unit, in it the
// domain with most ranks left go. Hosts that cannot keep the segments whole beside the spares (an allocation
// made without Railyard) are ordered without segments, and at most all but one are spares. `hosts`: distinct
// indices, in any order. Costs: hosts log hosts + spares log units, where domains or pods keep segments whole
// spares × units.
RankedHosts order_ranks(const PlacementIndex& index, std::vector<std::uint32_t> hosts,
                        const std::vector<std::uint32_t>& sizes, std::uint32_t spares, RankOrder order);

} // namespace sched
