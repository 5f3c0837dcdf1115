// --ckpt-kind in slurmstepd: reports the checkpoints that the job's own program writes.
#pragma once

#include "spank/plugin.hpp"

#include <string>

namespace spank {

// As the user, in the process that becomes the batch script: starts railckpt watch beside it, on the
// directory of --ckpt-dir, until the script has ended. `signal`: of --ckpt-signal, or empty. Whatever goes
// wrong is told the user, and the script begins.
void start_watching(spank_t handle, const std::string& kind, const std::string& signal);

} // namespace spank
