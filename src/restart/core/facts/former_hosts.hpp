// The hosts that a restarting job had before, so that placement keeps it there (sched::Request::had).
#pragma once

#include "restart/core/facts/state.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace restart {

// A job that failed twice on its own without a newer checkpoint may have failed because of its hosts,
// unnoticed: then it is placed as if it were new.
inline bool may_keep_hosts(const JobState& job) {
    return job.crashes.futile < 2;
}

// The hosts of the job's last start, if that is `epoch`; empty when they are not known or not to be kept, or
// the job has components, each with its own.
inline std::vector<std::string> hosts_of_start(const JobState& job, std::uint32_t epoch) {
    if (job.ran_epoch != epoch || !may_keep_hosts(job) || !job.rm.components.empty()) return {};
    return job.ran_on;
}

// The hosts of the start before the one that the job waits for or has; empty in the same cases.
inline std::vector<std::string> hosts_before(const JobState& job) {
    if (job.ran_epoch == job.rm.restarts) return may_keep_hosts(job) ? job.had : std::vector<std::string>();
    return job.rm.restarts == 0 ? std::vector<std::string>() : hosts_of_start(job, job.rm.restarts - 1);
}

} // namespace restart
