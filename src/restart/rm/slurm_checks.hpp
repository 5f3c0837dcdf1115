// The jobs with which restartd checks idle hosts (CheckHost): a single host, the lowest priority that runs, a
// script that does nothing. The host is checked by the preflight that spank_rail runs before it, whose
// results its agent reports like those of any job. Only slurm_*.cpp files and their tests include this.
#pragma once

#include "base/expected.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/rm/slurm_calls.hpp"

#include <span>
#include <string>
#include <string_view>

namespace restart {

// The host that the job checks, by its comment; empty: not such a job, or another user's.
std::string checked_host(const job_info_t& job);

// Whether a job waits for hosts, and could use this one by its partitions and exclusions. Not one that waits
// for something no host can provide, such as a licence, or in a reservation.
bool is_wanted(std::string_view host, std::span<const job_info_t> jobs,
               std::span<const partition_info_t> partitions);

// Submits the job unless one of these jobs checks the host already. Errors as perform()'s.
base::Expected<void> submit_check(const CheckHost& action, std::span<const job_info_t> jobs);

// Ends it, if it is still that job. Errors as perform()'s.
base::Expected<void> end_check(const EndCheck& action);

} // namespace restart
