// Reboots by Slurm: slurmctld lets the host's slurmd run RebootProgram, and counts the host as away until it
// has booted. libslurm has no call for it, so that scontrol asks.
#pragma once

#include "base/expected.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/core/facts/rm.hpp"

namespace restart {

// Asks for the reboot of a host that we have drained; it stays drained afterwards, for no next state is
// given. A host that is to reboot already is not asked again. Errors: Code::denied where it is not drained by
// us or jobs are on it, Code::unavailable when slurmctld does not answer, Code::unfit with scontrol's words.
base::Expected<void> reboot_node(const RmNode& node, const RepairHost& action);

} // namespace restart
