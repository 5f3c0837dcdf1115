// What is wrong with links, as railctl status and explain print it.
#pragma once

#include "base/terminal.hpp"
#include "restart/wire/status.hpp"

#include <string>
#include <string_view>

namespace restart {

// A table; empty: nothing is wrong.
std::string show_links(const Status& status, const base::Look& look);

// Lines, the first with `what` before it: findings, or that there is none, or why that is not known.
std::string show(const UsedLinksStatus& links, base::Time now, std::string_view what);

} // namespace restart
