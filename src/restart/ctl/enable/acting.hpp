// Whether restartd acts: [restartd] observe_only in railyard.conf. Pure.
#pragma once

#include "base/expected.hpp"
#include "restart/ctl/enable/facts.hpp"
#include "restart/ctl/enable/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace restart::enable {

// The text of railyard.conf with that value, every other byte unchanged. Errors (Code::unfit): it is written
// in a form in which it cannot be found.
base::Expected<std::string> with_observe_only(const std::string& text, bool observe_only);

// The whole of `railctl enable acting` and `railctl disable acting`.
Plan plan_acting(const Facts& facts, const Wish& wish);

} // namespace restart::enable
