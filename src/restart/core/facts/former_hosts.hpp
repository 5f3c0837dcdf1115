// The hosts that a job which starts again had before, for placement to keep it there (sched::Request::had).
#pragma once

#include "restart/core/facts/state.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace restart {

// A job that failed by itself twice without a newer checkpoint may have been failed by its hosts, unnoticed:
// then it is placed as if it were new.
inline bool may_keep_hosts(const JobState& job) {
    return job.crashes.futile < 2;
}

// The hosts of that start of the job, the last; none when they are not known or not to be kept, or the job
// has components, each with its own.
inline std::vector<std::string> hosts_of_start(const JobState& job, std::uint32_t epoch) {
    if (job.ran_epoch != epoch || !may_keep_hosts(job) || !job.rm.components.empty()) return {};
    return job.ran_on;
}

// The hosts of the start before the one that the job waits for or has; none likewise.
inline std::vector<std::string> hosts_before(const JobState& job) {
    if (job.ran_epoch == job.rm.restarts) return may_keep_hosts(job) ? job.had : std::vector<std::string>();
    return job.rm.restarts == 0 ? std::vector<std::string>() : hosts_of_start(job, job.rm.restarts - 1);
}

} // namespace restart
