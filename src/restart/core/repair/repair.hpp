// Brings a host back that a fault put out of use. A repair is an incident of its own, which begins when the
// fault's has ended: the host is drained by us and free of jobs. It climbs the ladder of the fault's class
// (ladder.hpp) rung by rung, at most one at a time, until the host has been without a fault for a while and
// is resumed, or is left to an operator.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/step_context.hpp"

#include <cstddef>

namespace restart {

// The class of the host's present fault; other if it has none.
FaultClass fault_now(const State& state, const HostState& host);
// When a fault's incident is decided: its class is remembered for the repair.
void note_fault(StepContext& ctx, const Incident& incident);

// Opens repairs of hosts that are out of use for a fault and free of jobs, or held only by jobs that run
// without them; after a snapshot.
void begin_repairs(StepContext& ctx);
// False: it is over and may be removed.
bool advance_repair(StepContext& ctx, Incident& incident);

// What the host's repair does next if the present rung does not help; hands at the end.
Rung next_rung(const State& state, const Policy& policy, const HostState& host);
// Rungs that did something, tried within forget_after.
std::size_t attempts_of(const HostState& host, const Policy& policy, base::Time now);

} // namespace restart
