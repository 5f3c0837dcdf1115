// The state of every host at the moment of a decision.
#pragma once

#include "base/expected.hpp"
#include "base/host_state.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sched {

using base::HostState;

struct Snapshot {
    // By host index of the fabric; hosts the resource manager does not know are `down`.
    std::vector<HostState> states;
    // Health 0 (avoid) … 1 (sound) by host index; empty: all 1.
    std::vector<float> health;

    // Lowers the health of a host of `states`.
    void weaken(std::size_t host, float to);

    // Every host free.
    static Snapshot all_free(const topo::Fabric& fabric);
};

// Lines "HOST STATE [HEALTH]" (base/host_state.hpp). A host listed twice (two partitions) keeps the worse
// state and health. Hosts unknown to the fabric are named in `unknown`, not an error.
// Errors (Code::input): those of base::each_state_line.
base::Expected<Snapshot> parse_state(std::string_view text, std::string_view name, const topo::Fabric& fabric,
                                     std::vector<std::string>* unknown = nullptr);

} // namespace sched
