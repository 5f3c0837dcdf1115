// The state of every host from sinfo's output.
#pragma once

#include "base/expected.hpp"
#include "sched/ask/snapshot.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sched {

// Lines "HOST STATE [HEALTH]" (topo/read/slurm_states.hpp). A host listed twice (two partitions) keeps the
// worse state and health. Hosts unknown to the fabric are named in `unknown`, not an error.
// Errors (Code::input): those of topo::each_state_line.
base::Expected<Snapshot> parse_state(std::string_view text, std::string_view name, const topo::Fabric& fabric,
                                     std::vector<std::string>* unknown = nullptr);

} // namespace sched
