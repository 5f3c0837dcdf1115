// The user that Slurm's controller runs as, and restartd with it, as this host's slurm.conf has it. Slurm is
// not asked: agents want to know while it is away, and on thousands of hosts at once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace restart {

// SlurmUser of the file and of those it includes; "root", Slurm's default, where they do not say. None: the
// file cannot be read.
std::optional<std::string> slurm_user_in(const std::filesystem::path& conf);

// Of $SLURM_CONF, /etc/slurm/slurm.conf, or what slurmctld gave this host (/run/slurm/conf), the first that
// can be read. None: none of them can, as on a host that starts.
std::optional<std::string> known_slurm_user();
// Else "slurm", the user of Slurm's packages.
std::string slurm_user();

} // namespace restart
