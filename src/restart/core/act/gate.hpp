// The one gate that everything restartd would do by itself passes. What it keeps back is not lost: what is to
// be done is derived from the present state at each step, and is done once the gate is open.
#pragma once

#include "restart/core/facts/action.hpp"
#include "restart/core/facts/bounds.hpp"

namespace restart {

// What keeps back everything about this culprit; none: nothing does. With an empty name: everything about
// all. Beside that stand the bounds.
std::optional<Shut> gate(const State& state, const Policy& policy, base::Time now, std::string_view host);

// What keeps back this action: one that a person asked for passes where restartd's own do not.
std::optional<Shut> gate(const State& state, const Policy& policy, base::Time now, const Action& action);

} // namespace restart
