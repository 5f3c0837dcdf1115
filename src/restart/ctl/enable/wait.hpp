// Waiting with progress: for slurmds that are restarted, and for nodes that register.
#pragma once

#include "restart/ctl/enable/facts.hpp"
#include "restart/ctl/enable/means.hpp"

#include <functional>
#include <vector>

namespace restart::enable {

// Asks until it is so, at most for `most`; whether it is. `impatient`: a person may cut the waiting short
// (Ctrl-C).
bool wait_until(base::Duration most, const std::function<bool()>& so, bool impatient = false);

void ask_slurmds_again(Facts& facts);

// Until every slurmd that answers now was started after `changed`, or is another one than now. How many were;
// those that were not are said.
std::size_t wait_for_restarts(Facts& facts, base::Time changed, base::Duration most, const Means& means);

// Until slurmctld has heard from every host that answers; those it has not are said.
void wait_for_nodes(Facts& facts, base::Duration most, const Means& means);

} // namespace restart::enable
