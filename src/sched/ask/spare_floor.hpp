// How many healthy hosts to keep free for restarts.
#pragma once

#include "base/clock.hpp"
#include "base/conf.hpp"
#include "topo/fabric.hpp"

#include <cstdint>

namespace sched {

// The number of hosts in repair is Poisson distributed with mean hosts × repair / mtbf (each host fails once
// per `mtbf`, its repair takes `repair`). Returns the smallest k with a probability below `risk` of more than
// k in repair, but at most half of the hosts: a wrong value must not block all first starts. 0 for a risk of
// 0 (no floor is wanted) or of 1 and more, and if mtbf or repair is not above 0.
std::uint32_t spares_for(std::uint32_t hosts, base::Duration mtbf, base::Duration repair, double risk);

// The floor configured in railyard.conf.
std::uint32_t spare_floor_of(const base::PlacementConf& placement, const base::CheckpointConf& checkpoint,
                             const topo::Fabric& fabric);

} // namespace sched
