// The one gate for everything restartd would do on its own. What it holds back is not lost: actions are
// derived from the present state at each step, and are done once the gate is open.
#pragma once

#include "restart/core/facts/action.hpp"
#include "restart/core/facts/bounds.hpp"

namespace restart {

// What holds back everything about this culprit; none: nothing does. With an empty name: everything about
// all. The bounds apply in addition.
std::optional<Shut> gate(const State& state, const Policy& policy, base::Time now, std::string_view host);

// What holds back this action: one that an operator requested passes where restartd's own do not.
std::optional<Shut> gate(const State& state, const Policy& policy, base::Time now, const Action& action);

} // namespace restart
