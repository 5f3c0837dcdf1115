// --rail-preflight in slurmstepd, before the batch script begins: railrun(1) tries the job's hosts, and says
// on which the job is to start.
#pragma once

#include "spank/plugin.hpp"

#include <string>

namespace spank {

// As the user, in the process that becomes the script, when its order of hosts is set: runs railrun
// --preflight with the script's environment and waits for it. Hosts that fail give their places in that order
// to spares. Whatever goes wrong is told the user, and the script begins; it does not when the job is ended
// meanwhile, by a signal that railrun dies of.
void run_preflight(spank_t handle, const std::string& wish);

} // namespace spank
