// A plan for people and for machines.
#pragma once

#include "restart/ctl/enable/plan.hpp"

#include <string>

namespace restart::enable {

// Obstacles, the steps in order with their commands, and notes.
std::string show(const Plan& plan);
// {"v":1,"on","part","way","obstacles":[...],"steps":[...],"settings":[...],"notes":[...]}
std::string to_json(const Plan& plan);

} // namespace restart::enable
