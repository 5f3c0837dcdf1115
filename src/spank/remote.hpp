// What the files of the plugin that run in slurmstepd need from SPANK.
#pragma once

#include "spank/plugin.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace spank {

std::optional<std::string> task_variable(spank_t handle, const std::string& name);
// As Slurm calls this host. By slurmstepd's own environment, which slurmd has made: the task's is the user's,
// and root writes files of this name.
const std::string& node_name();
std::uint32_t item(spank_t handle, spank_item_t which, std::uint32_t otherwise);

} // namespace spank
