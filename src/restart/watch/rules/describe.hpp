// Describes a rule in words, for the manual page and next to a value.
#pragma once

#include "restart/watch/rules/rule.hpp"

#include <string>

namespace restart {

// "gpu.pcie_width below what it is measured against, for 60s", "ib.counter.symbol_error grew by more than 120
// within 1h", "gpu.xid 39 to 41".
std::string describe(const Rule& rule);

// "warn", "evict or warn, by [throttle] reasons", "info; warn when it comes twice within 1d".
std::string describe_severity(const Rule& rule);

} // namespace restart
