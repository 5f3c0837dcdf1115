// Whether a host may be removed from its jobs: pure, from what was just read. Only slurm_*.cpp files and
// their tests include this.
#pragma once

#include "base/expected.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/rm/slurm_calls.hpp"

#include <span>

namespace restart {

// Errors (Code::denied): it is no longer drained by Railyard, or setting it down would end a job: one that
// the action does not name, or that does not survive it.
base::Expected<void> can_be_freed(const RmNode& node, const FreeHost& action,
                                  std::span<const job_info_t> jobs);

} // namespace restart
