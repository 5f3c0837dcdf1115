// Processes of jobs that their own starter keeps on a host (rail-lsf-run(1)) and ends when it is told to:
// those that are left over there from a start that is over, and jobs whose processes were ended because their
// host was cut off. For a resource manager that does neither itself (LSF).
#pragma once

#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace restart {

// What the report says of them, in place of what the host's last one said.
void take_kept(HostAgent& host, const Report& report, base::Time now);

// What of them is to be ended on the reporting host: of jobs that wait again, run without it, or have lost
// their first host and are to be started again. Each was there before the resource manager was last read, and
// it answered.
std::vector<JobEnd> ends_for(const State& state, const Report& report);

// Hosts on which no gang starts, as processes of a job that is not there any more still run.
std::set<std::string> hosts_with_left_overs(const State& state);

// Gangs that wait to be started again while processes of their last start may run yet: until hosts that are
// heard say that they have ended, half a minute at most, so that the gang can go back there; of a host that
// is silent until its agent, if it lives, has found that it is cut off and has ended them. Cost: O(hosts).
std::set<base::JobId> gangs_not_ended(const State& state, const Policy& policy, base::Time now);

// The host of a running job on which its processes were ended; empty: none. The resource manager does not
// know of it.
std::string ended_on(const State& state, const JobState& job);

// Other hosts for one to look at when restartd is silent, at most most_witnesses, of as many places as there
// are; each host has its own. Cost: O(hosts).
std::vector<Witness> witnesses_for(const State& state, std::string_view host);

} // namespace restart
