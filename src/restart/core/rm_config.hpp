// What the resource manager's own configuration says that matters here: how soon it misses a host, and
// whether Railyard's plugins are in it.
#pragma once

#include "base/clock.hpp"

#include <string>
#include <vector>

namespace restart {

struct RmConfig {
    base::Duration slurmd_timeout{};             // silence after which it sets a host down itself; 0: never
    std::vector<std::string> job_submit_plugins; // as named in JobSubmitPlugins: "rail", "lua"
    std::string select_type;                     // "select/rail"
    std::string topology_plugin;                 // "topology/tree"
    bool operator==(const RmConfig&) const = default;

    // Whether it knows the flags of jobs (job_submit_rail), without which --restart=auto is never seen.
    bool takes_flags() const;
    // Whether Railyard chooses nodes (select_rail or topology_rail, by Slurm's release).
    bool chooses_nodes() const;
};

// What is installed half: a sentence for each part that is missing, with what that means and the way out.
std::vector<std::string> missing_parts(const RmConfig& config);

} // namespace restart
