// The jobs by which restartd tries idle hosts (CheckHost): one host alone, the lowest priority that runs, a
// script that does nothing. What tries the host is the preflight that spank_rail makes before it, whose
// results its agent tells as it tells those of any job. Only slurm_*.cpp files and their tests include this.
#pragma once

#include "base/expected.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/rm/slurm_calls.hpp"

#include <span>
#include <string>
#include <string_view>

namespace restart {

// The host that the job tries, by its comment; empty: it is no such job, or another user's.
std::string checked_host(const job_info_t& job);

// Whether a job waits for hosts, and could use this one by its partitions and what it excludes. One that
// waits for what no host could give it, as a licence, or in a reservation does not.
bool is_wanted(std::string_view host, std::span<const job_info_t> jobs,
               std::span<const partition_info_t> partitions);

// Submits the job unless one of these jobs tries the host already. Errors as perform()'s.
base::Expected<void> submit_check(const CheckHost& action, std::span<const job_info_t> jobs);

// Ends it, if it is still that job. Errors likewise.
base::Expected<void> end_check(const EndCheck& action);

} // namespace restart
