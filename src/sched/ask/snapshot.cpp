#include "sched/ask/snapshot.hpp"

#include <algorithm>

namespace sched {

Snapshot Snapshot::all_free(const topo::Fabric& fabric) {
    Snapshot snapshot;
    snapshot.states.assign(fabric.hosts.size(), HostState::free);
    return snapshot;
}

void Snapshot::weaken(std::size_t host, float to) {
    if (to >= 1) return;
    if (health.empty()) health.assign(states.size(), 1.0F);
    health[host] = std::min(health[host], to);
}

} // namespace sched
