// The resource manager's own words where a sentence needs them: what an operator types, what a user did. Each
// implementation gives its own (rm.hpp).
#pragma once

#include <string>

namespace restart {

struct RmWords {
    std::string controller = "the resource manager";   // who decides: "slurmctld"
    std::string tool = "the resource manager's tools"; // what changes a host without us: "scontrol"
    // Why nothing can start an interactive allocation again.
    std::string interactive = "an interactive allocation cannot be requeued, only batch jobs can";
    // Why no flag of any job is known.
    std::string no_flags = "the resource manager does not know the flag";
    // Who may see all, and who may change hosts, by its accounting; who may see the jobs of an account.
    std::string readers = "operators of its accounting";
    std::string administrators = "administrators of its accounting";
    std::string coordinators = "coordinators of its account";
    // What hides jobs, nodes and their past from others.
    std::string private_jobs = "jobs are private";
    std::string private_nodes = "nodes are private";
    std::string private_events = "events are private";
    bool operator==(const RmWords&) const = default;
};

} // namespace restart
