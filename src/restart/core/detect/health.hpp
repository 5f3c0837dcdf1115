// Soft avoidance: hosts that may be used, but that placement avoids where there is a choice.
#pragma once

#include "base/host_health.hpp"
#include "restart/core/facts/state.hpp"

namespace restart {

// The hosts with reduced health, by their current findings and by its lemon score (learn/lemon.hpp). Factors
// multiply:
//   0.2  a finding that asks to leave the host, while it is still in use (bounds, observe_only), or missing
//        GPUs
//   0.6  a finding that asks to avoid it, each
//   0.6  parts of it that checks of several users, or an idle check, found bad (agreed_checks.hpp), once
//   links that are up / all its links
//   0.9  it was suspected to be lost, and no second source confirmed it
//   0.9  to the power of its lemon score, in tenths: the written value must not change all the time
// and never below 0.05: only a drain excludes a host.
base::HealthMap health_of(const State& state, base::Time now, base::Duration lemon_half_life);

} // namespace restart
