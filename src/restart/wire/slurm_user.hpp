// The user that Slurm's controller runs as, and restartd with it, from this host's slurm.conf. Slurm is not
// asked: agents need the name while it is away, and on thousands of hosts at once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace restart {

// SlurmUser in the file and those it includes; "root", Slurm's default, if absent. None: the file cannot be
// read.
std::optional<std::string> slurm_user_in(const std::filesystem::path& conf);

// From $SLURM_CONF, /etc/slurm/slurm.conf, or the file slurmctld gave this host (/run/slurm/conf), the first
// that can be read. None: none of them can, as on a host that is starting.
std::optional<std::string> known_slurm_user();
// If not known: "slurm", the user of Slurm's packages.
std::string slurm_user();

} // namespace restart
