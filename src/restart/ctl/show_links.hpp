// What is wrong with links, as railctl status and explain print it.
#pragma once

#include "restart/wire/status.hpp"

#include <string>
#include <string_view>

namespace restart {

// A table; empty: nothing is wrong.
std::string show_links(const Status& status);

// Lines, the first with `what` before it: findings, or that there is none, or why that is not known.
std::string show(const UsedLinksStatus& links, base::Time now, std::string_view what);

} // namespace restart
