// The order of a job's ranks: computed on the node of its batch script, and passed to launchers.
#pragma once

#include "base/expected.hpp"
#include "spank/plugin.hpp"
#include "spank/rank_lists.hpp"

#include <string>
#include <vector>

namespace spank {

// By the fabric that railyard.conf names and the job's flags: what this process was given, else the variables
// of `get` (RAIL_SEGMENT, RAIL_SPARES, RAIL_ORDER), else plugstack.conf. Errors: no configuration, no fabric.
base::Expected<RankLists> job_lists(const std::vector<std::string>& hosts, const Lookup& get);

// In slurmstepd, for the batch script (or salloc's interactive step): as root before it is forked, as the
// user in its process, and as root when it has ended.
void prepare_order(spank_t handle);
void export_order(spank_t handle);
void forget_order();

// In the script's process: other lists of the same hosts, with spares in the places of hosts that the job is
// to leave. Lists of other hosts are passed over.
void change_order(spank_t handle, RankLists lists);

} // namespace spank
