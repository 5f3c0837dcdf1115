// What the files of the plugin that run in slurmstepd ask of SPANK.
#pragma once

#include "spank/plugin.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace spank {

std::optional<std::string> task_variable(spank_t handle, const std::string& name);
std::string node_name(spank_t handle); // as Slurm calls this host
std::uint32_t item(spank_t handle, spank_item_t which, std::uint32_t otherwise);

} // namespace spank
