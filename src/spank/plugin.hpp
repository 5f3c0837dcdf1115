// What the plugin's hooks share, and which of them run where.
#pragma once

#include "spank/options.hpp"

// spank.h declares its hooks outside its own extern "C".
extern "C" {
#include <slurm/spank.h>
}

#include <span>

namespace spank {

enum class Hook : std::uint8_t { init, init_post_opt, task_init, exit };

using Arguments = std::span<char*>;

// One plugin per process: sbatch, salloc, srun, or a slurmstepd.
Options& options();

// Runs the functions that the table (dispatch.cpp) lists for this hook in this context, in order, until one
// fails. Never throws.
int dispatch(Hook hook, spank_t handle, Arguments arguments);

// submit.cpp: in sbatch, salloc and srun.
int register_flags(spank_t handle, Arguments arguments); // also in slurmstepd, which receives the values
int publish(spank_t handle, Arguments arguments);

// launch.cpp: in srun, before and after it reads its options.
int hand_over_order(spank_t handle, Arguments arguments);
int take_back_order(spank_t handle, Arguments arguments);
inline constexpr const char* step_ordered = "RAIL_STEP_ORDERED"; // in such a step's environment

// task.cpp: in slurmstepd, as root, once before tasks are forked; as the user, before a task or the batch
// script starts; as root, after all have ended.
int prepare(spank_t handle, Arguments arguments);
int export_settings(spank_t handle, Arguments arguments);
int clean_up(spank_t handle, Arguments arguments);

// slurmd.cpp: in slurmd, as it starts.
int record_slurmd(spank_t handle, Arguments arguments);

} // namespace spank
