// The commands of railtopo(1): each adds itself to the command line and is run when it was named.
#pragma once

#include "base/cli.hpp"
#include "base/expected.hpp"
#include "base/json.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace topo::tool {

struct Command {
    CLI::App* words = nullptr;                // owned by the parent
    std::function<base::Expected<int>()> run; // returns the exit status
};

Command add_check(CLI::App& parent);
Command add_diff(CLI::App& parent);
Command add_discover(CLI::App& parent);
Command add_export(CLI::App& parent);
Command add_gather(CLI::App& parent);
Command add_host(CLI::App& parent);
Command add_show(CLI::App& parent);
Command add_synth(CLI::App& parent);

// Writes a result where --out says, - being standard output; a file that holds these bytes already keeps its
// time stamp. Error: Code::io.
base::Expected<void> put(const std::string& out, std::string_view text);

boost::json::array to_json(const std::vector<std::string>& sentences);

} // namespace topo::tool
