// Processes of jobs that their own starter keeps on a host (rail-lsf-run(1)) and ends on request: those left
// over there from an earlier start, and jobs whose processes were ended because their host was cut off. For a
// resource manager that does neither itself (LSF).
#pragma once

#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace restart {

// Replaces what the host's last report said of them.
void take_kept(HostAgent& host, const Report& report, base::Time now);

// Which of them the reporting host is to end: those of jobs that wait again, run without it, or have lost
// their first host and will be restarted. Each was there before the resource manager was last read, and it
// answered.
std::vector<JobEnd> ends_for(const State& state, const Report& report);

// Hosts on which no gang may start because processes of an earlier job still run.
std::set<std::string> hosts_with_left_overs(const State& state);

// Gangs that wait to be restarted while processes of their last start may still run. On hosts that report:
// until these say that the processes have ended, at most half a minute, so that the gang can go back there.
// On a silent host: until its agent, if alive, has found that it is cut off and has ended them. Cost:
// O(hosts).
std::set<base::JobId> gangs_not_ended(const State& state, const Policy& policy, base::Time now);

// The host of a running job on which its processes were ended; empty: none. The resource manager does not
// know of it.
std::string ended_on(const State& state, const JobState& job);

// Other hosts for one to look at when restartd is silent: at most most_witnesses, from as many places as
// there are, different ones for each host. Cost: O(hosts).
std::vector<Witness> witnesses_for(const State& state, std::string_view host);

} // namespace restart
