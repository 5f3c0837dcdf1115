// Options shared by several subcommands of railcheck.
#pragma once

#include "base/cli.hpp"

#include <string>
#include <vector>

namespace check {

// 1 to 3; `about` states the cost of each.
void add_level(base::Words& words, int& level, const std::string& about);
void add_config(base::Words& words, std::string& path);
void add_rules(base::Words& words, std::string& path);
void add_fabric(base::Words& words, std::string& path);
void add_nvml(base::Words& words, std::string& library);
void add_libraries(base::Words& words, std::vector<std::string>& paths);
void add_json(base::Words& words, bool& as_json);

} // namespace check
