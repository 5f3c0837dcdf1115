// The order of a job's ranks: computed on the node of its batch script, and passed to launchers.
#pragma once

#include "base/expected.hpp"
#include "spank/plugin.hpp"
#include "spank/rank_lists.hpp"

#include <string>
#include <vector>

namespace spank {

// Uses the fabric named in railyard.conf and the job's flags: those given to this process, else the variables
// of `get` (RAIL_SEGMENT, RAIL_SPARES, RAIL_ORDER), else plugstack.conf. Errors: no configuration, no fabric.
base::Expected<RankLists> job_lists(const std::vector<std::string>& hosts, const Lookup& get);

// In slurmstepd, for the batch script (or salloc's interactive step): as root before it is forked, as the
// user in its process, and as root after it has ended.
void prepare_order(spank_t handle);
void export_order(spank_t handle);
void forget_order();

// In the script's process: other lists of the same hosts, with spares in the places of hosts that the job
// must leave. Lists of other hosts are ignored.
void change_order(spank_t handle, RankLists lists);

} // namespace spank
