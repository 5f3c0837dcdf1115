// What restartd shows of what it has learned, as far as the user may see it (wire/rates.hpp). Pure.
#pragma once

#include "restart/core/facts/rights.hpp"
#include "restart/core/facts/state.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/wire/rates.hpp"

#include <optional>

namespace restart {

Rates rates_of(const State& state, const DriverStatus& status, const View& view);

ProgramStatus program_of(const State& state, const Policy& policy, const JobState& job);

// None until a checkpoint of the job has shown its cost.
std::optional<IntervalStatus> interval_of(const State& state, const Policy& policy, const JobState& job);

// None for a host that is not under repair.
std::optional<ReturnStatus> repair_of(const State& state, const DriverStatus& status, const HostState& host);

Top top_of(const State& state, const DriverStatus& status, const View& view);

} // namespace restart
