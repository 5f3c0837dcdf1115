// Which hosts of an allocation run which ranks, and which are spares. Used by sched::place for the order that
// it returns, and by spank_rail.so on the node for the order that it passes to the launcher: both must agree.
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

// Ring: by island, pod, unit and host (PlacementIndex::order), so a ring over the ranks leaves each unit
// once. Tree: the same, but pods, and units within them, with more ranks come first, so that a binary tree is
// split between units; of equals the first. None: ascending host index.
//
// `sizes`: segment sizes, smallest first (sizes_of); none: hosts are ordered individually.
//
// Spares are, in each unit, the hosts that are not in a whole segment; then, one host (or segment) at a time,
// the last host of the unit with most ranks left; of equals the last. If segments are also kept whole in
// domains or pods (segments.hpp), so it is in each of these: the last of the pod, in it the unit, in it the
// domain with most ranks left. Hosts that cannot keep the segments whole besides the spares (an allocation
// made without Railyard) are ordered without segments; at least one is not a spare. `hosts`: distinct
// indices, in any order. Costs: hosts log hosts + spares log units; spares × units if domains or pods keep
// segments whole.
RankedHosts order_ranks(const PlacementIndex& index, std::vector<std::uint32_t> hosts,
                        const std::vector<std::uint32_t>& sizes, std::uint32_t spares, RankOrder order);

} // namespace sched
