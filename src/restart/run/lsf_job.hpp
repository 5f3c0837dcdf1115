// railrun in a job of LSF. LSF leaves a job its hosts until it ends, lost ones too, and never ends it for one
// that is not its first: so which hosts are to be left is restartd's word alone, and a job without it is run
// once.
#pragma once

#include "restart/run/own_job.hpp"

#include <string>
#include <vector>

namespace restart::run {

// As check_command(): srun starts nothing here.
base::Expected<void> check_lsf_command(const Given& given, const Seats& seats);

// The command on these seats. Its environment describes a job of LSF that has these hosts alone, in the order
// of ranks, with their slots: RAIL_NODELIST and what else rail-lsf-run sets of hosts, and of LSF's own
// variables those that are set. `agent` is rail-lsf-rsh's path. Pure but for LSB_DJOB_HOSTFILE, which is read
// where it alone names the hosts. Errors: those of lsf::allocation_of().
base::Expected<Started> lsf_command_on(const Given& given, const Seats& seats, const std::string& hostfile,
                                       const std::string& agent);

// A command for each host, by the agent, which has a shell there read it. None of them hears from LSF who
// takes part: --hosts and --rank say so. Pure.
std::vector<OnHosts> lsf_on_each(const Words& check, const Hosts& hosts, const std::string& agent);

} // namespace restart::run
