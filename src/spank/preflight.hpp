// --rail-preflight in slurmstepd, before the batch script starts: railrun(1) checks the job's hosts, and
// reports on which of them the job should start.
#pragma once

#include "spank/plugin.hpp"

#include <string>

namespace spank {

// As the user, in the process that becomes the script, after its order of hosts is set: runs railrun
// --preflight with the script's environment and waits for it. Spares take the places of failed hosts in that
// order. Errors are reported to the user, and the script starts. It does not if the job is terminated during
// this, by a signal that also ends railrun.
void run_preflight(spank_t handle, const std::string& wish);

} // namespace spank
