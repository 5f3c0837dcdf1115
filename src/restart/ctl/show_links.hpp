// Problems of links, as printed by railctl status and explain.
#pragma once

#include "base/terminal.hpp"
#include "restart/wire/status.hpp"

#include <string>
#include <string_view>

namespace restart {

// A table; empty: no problems.
std::string show_links(const Status& status, const base::Look& look);

// Lines, the first with `what` before it: findings, or that there are none, or why that is not known.
std::string show(const UsedLinksStatus& links, base::Time now, std::string_view what);

} // namespace restart
