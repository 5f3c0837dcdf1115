// Who may do what with restartd (restartd(8), ROLES). Names are looked up when needed, so that a directory
// service that was away at start does not lock operators out.
#pragma once

#include "base/conf.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

struct Roles {
    std::uint32_t agent_uid = 0;
    std::vector<std::string> operators;       // user names
    std::vector<std::string> operator_groups; // group names
    bool open_reading = false;                // everyone may read from anywhere, not only from this machine

    std::vector<std::string> names{}; // of restartd, as [restartd] url has them

    static Roles from(const base::RestartdConf& conf);

    // Whether a browser that asks by this name ("head:8917", a Host header; empty: none was given) has the
    // page from here. Any server can have its own name resolved to this address, and its page then reads in
    // the browser of whoever visits it what this machine may read (DNS rebinding): only names that no other
    // server can have count, which are addresses, names without a dot, and `names`.
    bool is_own_name(std::string_view host) const;

    bool is_agent(std::uint32_t uid) const { return uid == agent_uid; }
    // root, the resource manager's own user if known (Slurm: SlurmUser), a named user, or a member of a named
    // group.
    bool is_operator(std::uint32_t uid, std::optional<std::uint32_t> rm_owner) const;
};

} // namespace restart
