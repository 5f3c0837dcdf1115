// What the resource manager's accounting lets a user do beside what every user may (Slurm: AdminLevel and
// coordinators, sacctmgr(1)).
#pragma once

#include <string>
#include <vector>

namespace restart {

enum class RmLevel {
    none,
    reads, // sees all (Slurm: Operator)
    acts   // and may change hosts (Slurm: Administrator)
};

struct RmUser {
    RmLevel level = RmLevel::none;
    std::vector<std::string> accounts; // that it coordinates, and so sees the jobs of
    bool operator==(const RmUser&) const = default;
};

} // namespace restart
