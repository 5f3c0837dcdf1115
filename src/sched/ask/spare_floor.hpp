// How many healthy hosts to keep free for restarts.
#pragma once

#include "base/clock.hpp"
#include "base/conf.hpp"
#include "topo/fabric.hpp"

#include <cstdint>

namespace sched {

// Hosts in repair are a Poisson number with mean hosts × repair / mtbf (each host fails once in `mtbf`, and
// its repair takes `repair`): the smallest k for which more than k are in repair with a chance below `risk`,
// but at most half of the hosts: a wrong number must not keep first starts off the whole fabric.
// 0 for a risk of 0 (no floor is wanted) or of 1 and more, and where mtbf or repair is not above 0.
std::uint32_t spares_for(std::uint32_t hosts, base::Duration mtbf, base::Duration repair, double risk);

// What railyard.conf asks for.
std::uint32_t spare_floor_of(const base::PlacementConf& placement, const base::CheckpointConf& checkpoint,
                             const topo::Fabric& fabric);

} // namespace sched
