// From libslurm's records to RmQueue: pure, as slurm_reading.hpp.
#pragma once

#include "restart/core/facts/rm_queue.hpp"
#include "restart/rm/slurm_calls.hpp"

#include <optional>

namespace restart {

QueueNode read_queue_node(const node_info_t& node, std::uint32_t cpus_used);
// None for a job that neither waits nor holds nodes. `now` is when a job that is leaving ends.
std::optional<QueueJob> read_queue_job(const job_info_t& job, base::Time now);

// None for a job that has not ended.
std::optional<EndedJob> read_ended_job(const job_info_t& job);

} // namespace restart
