// What the resource manager's own configuration says that matters here: how soon it misses a host, whether
// Railyard's parts are in it, and what it hides from its users.
#pragma once

#include "base/clock.hpp"

#include <optional>
#include <string>
#include <vector>

namespace restart {

// What it hides from users who are no operators (Slurm: PrivateData).
struct RmPrivacy {
    bool jobs = false;   // of other users
    bool nodes = false;  // every node
    bool events = false; // what happened to nodes
    // Coordinators do not see their accounts' jobs: labels decide, which only it knows (Slurm:
    // MCSParameters).
    bool by_label = false;
    bool operator==(const RmPrivacy&) const = default;
};

struct RmConfig {
    // Silence after which it sets a host down itself; 0: never. None: it does not say (LSF).
    std::optional<base::Duration> declares_down_after{};
    bool takes_flags = false;   // knows the flags of jobs, without which --restart=auto is never seen
    bool chooses_nodes = false; // by Railyard
    // What is only partly installed: a sentence for each part that is missing, with what that means and the
    // way out.
    std::vector<std::string> missing;
    std::optional<RmPrivacy> hides{}; // none: an older release's journal, which does not say
    bool reboots = false;             // hosts when asked (Slurm: RebootProgram)
    bool operator==(const RmConfig&) const = default;
};

} // namespace restart
