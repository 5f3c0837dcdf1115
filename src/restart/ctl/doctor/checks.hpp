// Problems of an installation, each with the command to fix it. Pure.
#pragma once

#include "restart/ctl/doctor/facts.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace restart::doctor {

enum class Weight {
    error,   // jobs, Slurm or recovery suffer
    warning, // they will, or would after a fault
    note     // worth knowing
};
std::string_view to_string(Weight weight);

struct Complaint {
    std::string code; // an identifier for scripts: "slurm.select_missing"
    Weight weight = Weight::error;
    std::string text; // a sentence without a full stop
    std::string fix;  // what to do, if possible a command
    bool operator==(const Complaint&) const = default;
};

// In the order in which to fix them. `this_host`: only what this host has, nothing of the cluster.
std::vector<Complaint> complaints(const Facts& facts, bool this_host);

} // namespace restart::doctor
