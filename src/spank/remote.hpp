// What those files of the plugin that run in slurmstepd need from SPANK.
#pragma once

#include "spank/plugin.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace spank {

std::optional<std::string> task_variable(spank_t handle, const std::string& name);
// Slurm's name for this host, from slurmstepd's own environment, set by slurmd: the task's environment is the
// user's, and root writes files with this name.
const std::string& node_name();
std::uint32_t item(spank_t handle, spank_item_t which, std::uint32_t otherwise);

} // namespace spank
