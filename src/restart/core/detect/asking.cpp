#include "restart/core/detect/asking.hpp"

#include "restart/core/detect/silence.hpp"

namespace restart {

std::vector<std::string> hosts_to_ask(const State& state, base::Time now, const Policy& policy) {
    std::vector<std::string> silent;
    if (now < state.grace_until || !state.rm_read) return silent;
    for (const auto& [name, host] : state.hosts) {
        if (!host.last_report || host.lost || !host.node || host.node->away || host.node->down) continue;
        if (now - std::max(heard_from(host), state.grace_from) < policy.silent / 2) continue;
        silent.push_back(name);
    }
    if (silent.size() >= least_group) silent.clear();
    return silent;
}

base::Duration asking_patience(const Policy& policy) {
    return policy.silent * 2 / 3;
}

} // namespace restart
