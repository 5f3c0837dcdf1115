// Waiting with progress: for restarted slurmds, and for nodes that register.
#pragma once

#include "restart/ctl/enable/facts.hpp"
#include "restart/ctl/enable/means.hpp"

#include <functional>
#include <vector>

namespace restart::enable {

// Polls until it is so, at most for `most`; returns whether it is. `impatient`: the user may cut the wait
// short (Ctrl-C).
bool wait_until(base::Duration most, const std::function<bool()>& so, bool impatient = false);

void ask_slurmds_again(Facts& facts);

// Until every slurmd that answers now was started after `changed`, or is a different one than now. Returns
// how many were; the others are reported.
std::size_t wait_for_restarts(Facts& facts, base::Time changed, base::Duration most, const Means& means);

// Until slurmctld has heard from every host that answers; the others are reported.
void wait_for_nodes(Facts& facts, base::Duration most, const Means& means);

} // namespace restart::enable
