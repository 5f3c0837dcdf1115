// The commands of railtopo(1): each adds itself to the command line, and runs if it was selected.
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
    base::Words* words = nullptr;             // owned by the parent
    std::function<base::Expected<int>()> run; // returns the exit status
};

Command add_bless(base::Words& parent);
Command add_check(base::Words& parent);
Command add_diff(base::Words& parent);
Command add_discover(base::Words& parent);
Command add_export(base::Words& parent);
Command add_gather(base::Words& parent);
Command add_host(base::Words& parent);
Command add_show(base::Words& parent);
Command add_synth(base::Words& parent);

// Writes a result to --out, - being standard output; a file that already contains these bytes keeps its time
// stamp. Error: Code::io.
base::Expected<void> put(const std::string& out, std::string_view text);

boost::json::array to_json(const std::vector<std::string>& sentences);

} // namespace topo::tool
