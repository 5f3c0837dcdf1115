// The state as one JSON text and back.
#pragma once

#include "base/expected.hpp"
#include "restart/core/facts/state.hpp"

#include <string>
#include <string_view>

namespace restart {

std::string to_json(const State& state);
// Also accepts what older releases wrote. Errors (Code::input) name the field.
base::Expected<State> state_from_json(std::string_view text);

} // namespace restart
