// The state of every host at the moment of a decision.
#pragma once

#include "base/host_state.hpp"
#include "topo/fabric.hpp"

#include <cstddef>
#include <vector>

namespace sched {

using base::HostState;

struct Snapshot {
    // By host index of the fabric; hosts unknown to the resource manager are `down`.
    std::vector<HostState> states;
    // Health from 0 (avoid) to 1 (healthy) by host index; empty: all 1.
    std::vector<float> health;

    // Lowers the health of a host in `states`.
    void weaken(std::size_t host, float to);

    // Every host free.
    static Snapshot all_free(const topo::Fabric& fabric);
};

} // namespace sched
