// What restartd would do now for each open incident: what is under way, awaited and withheld, from its state
// as far as the user may see it. Pure.
#pragma once

#include "restart/core/facts/rights.hpp"
#include "restart/core/facts/state.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/wire/plan.hpp"

namespace restart {

Modes modes_of(const State& state, const DriverStatus& status, const View& view);

// Rights as for GET /v1/status.
RecoveryPlan plan_of(const State& state, const DriverStatus& status, const View& view);

} // namespace restart
