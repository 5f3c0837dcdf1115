// What can confirm the loss of a host, and how soon: what an administrator wants to know before it happens.
#pragma once

#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace restart {

struct Witnesses {
    std::size_t hosts = 0;  // that the resource manager knows
    std::size_t agents = 0; // those of them whose agent has reported within `silent`
    std::optional<base::Duration>
        declares_down_after;             // RmConfig::declares_down_after; 0: never; none: not known
    std::optional<base::Duration> swept; // since the last complete sweep of the fabric
    bool fabric = false;                 // sweeps arrive, so that the fabric can confirm a loss
    // Neither the fabric nor the resource manager is certain to confirm a loss within `witness_wait`: its
    // ping may notice sooner by chance.
    bool slow = false;
};
Witnesses witnesses_of(const State& state, const Policy& policy, base::Time now);

// One sentence each.
std::vector<std::string> sentences(const Witnesses& witnesses);

} // namespace restart
