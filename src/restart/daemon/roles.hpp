// Who may do what with restartd (restartd(8), ROLES). Names are looked up when needed, so that a directory
// service that was away at start does not lock operators out.
#pragma once

#include "base/conf.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

struct Roles {
    std::uint32_t agent_uid = 0;
    std::vector<std::string> operators;       // user names
    std::vector<std::string> operator_groups; // group names
    bool open_reading = false;                // everyone may read from anywhere, not only from this machine

    static Roles from(const base::RestartdConf& conf);

    bool is_agent(std::uint32_t uid) const { return uid == agent_uid; }
    // root, the resource manager's own user if known (Slurm: SlurmUser), a named user, or a member of a named
    // group.
    bool is_operator(std::uint32_t uid, std::optional<std::uint32_t> rm_owner) const;
};

} // namespace restart
