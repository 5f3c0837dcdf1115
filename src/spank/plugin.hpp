// What the hooks of the plugin share, and which of them run where.
#pragma once

#include "spank/options.hpp"

// spank.h declares its hooks outside its own extern "C".
extern "C" {
#include <slurm/spank.h>
}

#include <span>

namespace spank {

enum class Hook : std::uint8_t { init, init_post_opt, task_init };

using Arguments = std::span<char*>;

// One process, one plugin: sbatch, salloc, srun, or a slurmstepd.
Options& options();

// Runs what stands in the table (dispatch.cpp) for this hook in this context; nothing otherwise. Never
// throws.
int dispatch(Hook hook, spank_t handle, Arguments arguments);

// submit.cpp: in sbatch, salloc and srun.
int register_flags(spank_t handle, Arguments arguments); // also in slurmstepd, which gets the values back
int publish(spank_t handle, Arguments arguments);

// task.cpp: in slurmstepd, as root, once before tasks are forked; as the user, before a task or the batch
// script starts.
int prepare(spank_t handle, Arguments arguments);
int export_settings(spank_t handle, Arguments arguments);

} // namespace spank
