// Small fabrics made by hand for the placement tests: no links, derived parts filled in directly.
#pragma once

#include "topo/fabric.hpp"

#include <string>

namespace sched_test {

// pods × units × hosts × rails; hosts n1, n2, … in order; leaf of unit u and rail r is u * rails + r.
// A random size is drawn before the call: compilers evaluate arguments in orders of their own, and from one
// seed each would make other fabrics.
inline topo::Fabric grid(int pods, int units, int hosts, int rails = 2) {
    topo::Fabric fabric;
    fabric.rails = rails;
    fabric.tiers = 3;
    for (int p = 0; p < pods; ++p) {
        fabric.pods.push_back({"pod" + std::to_string(p + 1), {}});
        for (int u = 0; u < units; ++u) {
            const int unit = p * units + u;
            fabric.pods.back().units.push_back(static_cast<std::uint32_t>(unit));
            fabric.units.push_back({"su" + std::to_string(unit + 1), {}, {}, p});
            for (int r = 0; r < rails; ++r) {
                topo::Switch leaf;
                leaf.name = "leaf" + std::to_string(fabric.switches.size() + 1);
                leaf.tier = 0;
                leaf.pod = p;
                fabric.units.back().leaves.push_back(static_cast<int>(fabric.switches.size()));
                fabric.switches.push_back(leaf);
            }
            for (int h = 0; h < hosts; ++h) {
                topo::Host host;
                host.name = "n" + std::to_string(fabric.hosts.size() + 1);
                host.unit = unit;
                host.leaves = fabric.units.back().leaves;
                fabric.units.back().hosts.push_back(static_cast<std::uint32_t>(fabric.hosts.size()));
                fabric.host_index.emplace(host.name, static_cast<std::uint32_t>(fabric.hosts.size()));
                fabric.hosts.push_back(host);
            }
        }
    }
    return fabric;
}

// NVLink domains of so many hosts of a unit each, its last with the rest.
inline void add_domains(topo::Fabric& fabric, int size) {
    for (const auto& unit : fabric.units)
        for (std::size_t i = 0; i < unit.hosts.size(); ++i) {
            if (i % static_cast<std::size_t>(size) == 0)
                fabric.domains.push_back({"nvl" + std::to_string(fabric.domains.size() + 1), {}});
            auto& host = fabric.hosts[unit.hosts[i]];
            host.domain = fabric.domains.back().name;
            host.domain_index = static_cast<int>(fabric.domains.size()) - 1;
            fabric.domains.back().hosts.push_back(unit.hosts[i]);
        }
}

} // namespace sched_test
