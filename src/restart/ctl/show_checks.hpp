// What railctl checks prints.
#pragma once

#include "base/terminal.hpp"
#include "restart/wire/checks.hpp"

#include <string>

namespace restart {

// A table of what is unusual, or with `all` of everything, and a summary line.
std::string show(const Checks& checks, bool all, const base::Look& look = {});

} // namespace restart
