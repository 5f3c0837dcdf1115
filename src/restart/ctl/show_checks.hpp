// What railctl checks prints.
#pragma once

#include "base/terminal.hpp"
#include "restart/wire/checks.hpp"

#include <string>

namespace restart {

// A table of what stands out, or with `all` of everything, and a line that sums up.
std::string show(const Checks& checks, bool all, const base::Look& look = {});

} // namespace restart
