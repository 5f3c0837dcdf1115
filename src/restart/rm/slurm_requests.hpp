// Requests to slurmctld about one node or one job. Only slurm_*.cpp files include this.
//
// Errors of each: Code::unavailable when it does not answer, Code::not_found when it does not know the node
// or job, Code::denied without the right, Code::unfit with its own message.
#pragma once

#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/rm/slurm_calls.hpp"
#include "restart/rm/slurm_record.hpp"

#include <cstdint>
#include <string>

namespace restart {

// The number of the error: libslurm returns -1 and sets errno, or in later releases returns the error itself.
int number_of(int answer);

base::Expected<RmNode> load_node(const std::string& host);
// `ended_too`: also one that has ended, while slurmctld remembers it.
base::Expected<JobRecord> load_job(base::JobId job, bool ended_too = false);
// `state` NO_VAL leaves the state as it is, an empty reason the reason.
base::Expected<void> update_node(const std::string& host, std::uint32_t state, const std::string& reason);
base::Expected<void> update_job(std::uint32_t job, job_desc_msg_t& change);

} // namespace restart
