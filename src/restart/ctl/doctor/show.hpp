// The doctor's findings for people and for machines.
#pragma once

#include "base/terminal.hpp"
#include "restart/ctl/doctor/checks.hpp"

#include <string>
#include <vector>

namespace restart::doctor {

// A paragraph each, worst first, then a line that counts them.
std::string show(const std::vector<Complaint>& complaints, const base::Look& look = {});
// {"v":1,"findings":[{"code","weight","text","fix"}]}
std::string to_json(const std::vector<Complaint>& complaints);

} // namespace restart::doctor
