// Slurm through libslurm (22.05 and later), which is loaded here and not with the program: with LSF there is
// none. The library keeps its configuration process-wide: make only one.
#pragma once

#include "restart/rm/rm.hpp"

#include <filesystem>
#include <memory>

namespace restart {

// In the folder `kept` it keeps what jobs were submitted with (slurm_kept.hpp); empty: nothing. `conf` is
// slurm.conf; empty: $SLURM_CONF or Slurm's own default. Must run as root or SlurmUser to change anything.
// Errors: those of load_slurm_calls(); Code::input when the file cannot be read: libslurm would end the
// process in that case.
base::Expected<std::unique_ptr<ResourceManager>> make_slurm_rm(std::filesystem::path kept = {},
                                                               const std::filesystem::path& conf = {});

} // namespace restart
