// Railyard's plugins installed on a host, and the lines of plugstack.conf that load one.
#pragma once

#include "base/expected.hpp"
#include "restart/ctl/doctor/facts.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace restart::doctor {

// The release of Slurm in the symbol plugin_version of a plugin (an ELF file of this machine's kind), as
// "22.05.8". None of its code is run. Errors: Code::io, Code::input when it is not a plugin.
base::Expected<std::string> built_for(const std::filesystem::path& plugin);

// Each of ours in the directories of PluginDir ("DIR:DIR"), the first of each name as Slurm finds it.
std::vector<PluginFile> plugins_in(std::string_view plugin_dir);

// Lines that load spank_rail.so, in a plugstack.conf and the files it includes, in their order.
std::vector<PlugstackLine> spank_lines(const std::filesystem::path& plugstack);

} // namespace restart::doctor
