// railrun in a job of LSF. LSF leaves a job its hosts until it ends, including lost ones, and ends it only
// for the loss of its first host: so only restartd decides which hosts to leave, and without it a job is run
// once.
#pragma once

#include "restart/run/own_job.hpp"

#include <string>
#include <vector>

namespace restart::run {

// Like check_command(): srun starts nothing here.
base::Expected<void> check_lsf_command(const Given& given, const Seats& seats);

// The command on these seats. Its environment describes an LSF job with only these hosts, in the order of
// ranks, with their slots: RAIL_NODELIST and the other host variables of rail-lsf-run, and LSF's own
// variables that are set. `agent` is rail-lsf-rsh's path. Pure, except that it reads LSB_DJOB_HOSTFILE if
// only that names the hosts. Errors: those of lsf::allocation_of().
base::Expected<Started> lsf_command_on(const Given& given, const Seats& seats, const std::string& hostfile,
                                       const std::string& agent);

// A command for each host, through the agent, where a shell reads it. LSF tells none of them which hosts take
// part: --hosts and --rank do. Pure.
std::vector<OnHosts> lsf_on_each(const Words& check, const Hosts& hosts, const std::string& agent);

} // namespace restart::run
