// Rates and their evidence as text: what railctl rates and top print without --json, and what explain says
// about a job's interval.
#pragma once

#include "base/terminal.hpp"
#include "restart/wire/rates.hpp"

#include <string>

namespace restart {

std::string show(const Rates& rates, const base::Look& look = {});
std::string show(const Top& top, const base::Look& look = {});
std::string show(const ProgramStatus& program);   // a line
std::string show(const IntervalStatus& interval); // lines

} // namespace restart
