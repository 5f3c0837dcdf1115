#include "sched/slurm/host_states.hpp"

#include "topo/read/slurm_states.hpp"

#include <algorithm>
#include <unordered_set>

namespace sched {

using base::Expected;

Expected<Snapshot> parse_state(std::string_view text, std::string_view name, const topo::Fabric& fabric,
                               std::vector<std::string>* unknown) {
    Snapshot snapshot;
    snapshot.states.assign(fabric.hosts.size(), HostState::down);
    std::vector<bool> seen(fabric.hosts.size());
    std::unordered_set<std::string> named;
    const auto take = [&](topo::StateLine line) {
        for (auto& host : line.hosts) {
            const auto index = fabric.find_host(host);
            if (!index) {
                if (unknown && named.insert(host).second) unknown->push_back(std::move(host));
                continue;
            }
            auto& state = snapshot.states[*index];
            state = seen[*index] ? std::max(state, line.state) : line.state;
            seen[*index] = true;
            snapshot.weaken(*index, line.health.value_or(1));
        }
    };
    if (auto done = topo::each_state_line(text, name, take); !done) return std::move(done).error();
    return snapshot;
}

} // namespace sched
