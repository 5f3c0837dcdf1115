// Reboots by Slurm: slurmctld makes the host's slurmd run RebootProgram, and considers the host away until it
// has booted. libslurm has no call for it, so scontrol is run.
#pragma once

#include "base/expected.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/core/facts/rm.hpp"

namespace restart {

// Requests the reboot of a host that we have drained; it stays drained afterwards, as no next state is given.
// If a reboot is already pending it is not requested again. Errors: Code::denied if the host is not drained
// by us or jobs are on it, Code::unavailable when slurmctld does not answer, Code::unfit with its message.
base::Expected<void> reboot_node(const RmNode& node, const RepairHost& action);

} // namespace restart
