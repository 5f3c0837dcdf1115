// The quick sign of a loss: all links of a host went down, as the leaves at their other ends report, and its
// heartbeat did not come. Internal to restart/core.
#pragma once

#include "restart/core/facts/step_context.hpp"

namespace restart {

// How long a host that went dark must be silent to be suspected: one missed heartbeat, instead of [node_loss]
// silent. Computed once for all hosts: O(hosts).
class Darkness {
public:
    explicit Darkness(const StepContext& ctx);

    // [node_loss] silent, or less. Hosts that go dark together, such as those of a rack or of restarting
    // leaves, get the full time: many have one cause, which may be over soon. So does any host while
    // heartbeats of others are late.
    base::Duration patience_with(const HostState& host) const;

private:
    const StepContext& ctx_;
    bool wait_ = false;
};

} // namespace restart
