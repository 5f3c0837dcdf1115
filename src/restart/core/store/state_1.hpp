// What a state of version 1 expressed differently. Internal to restart/core.
#pragma once

#include "base/json.hpp"
#include "restart/core/facts/state.hpp"

namespace restart {

// Completes a state that was read from `document`, which is of version 1.
void take_up_version_1(State& state, const base::Reader& document);

} // namespace restart
