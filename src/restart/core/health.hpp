// Soft avoidance: hosts that may be used, but that placement is to pass over where there is a choice.
#pragma once

#include "base/host_health.hpp"
#include "restart/core/state.hpp"

namespace restart {

// How long a fault counts against its host after its incident was closed, and how many are remembered.
inline constexpr base::Duration fault_counts = std::chrono::days(30);
inline constexpr std::size_t most_faults = 20;

// The hosts that are less than sound, by what is known of them now and by the faults of the last 30 days (a
// host that was repaired and fails again is a lemon node: arXiv 2410.21680). Factors multiply:
//   0.2  a finding that asks to leave the host, while it is still in use (bounds, observe_only)
//   0.6  a finding that asks to avoid it, each
//   links that are up / all its links
//   0.9  it was suspected to be lost, and no second witness confirmed it
//   0.9  each fault of the last 30 days
// and never below 0.05: to ban a host is a drain's part.
base::HealthMap health_of(const State& state, base::Time now);

// A fault of the host ended `now`.
void remember_fault(HostState& host, base::Time now);

} // namespace restart
