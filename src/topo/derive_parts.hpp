// The parts of derive(). Internal to src/topo.
#pragma once

#include "topo/fabric.hpp"

#include <vector>

namespace topo {

// Switch neighbours, one entry per link: the neighbours of s are to[first[s]] … to[first[s + 1] - 1].
struct Neighbours {
    explicit Neighbours(const Fabric& fabric);

    std::size_t count(int s) const;
    template <class Visit> void each(int s, Visit visit) const {
        for (auto i = first[static_cast<std::size_t>(s)]; i < first[static_cast<std::size_t>(s) + 1]; ++i)
            visit(to[i]);
    }

    std::vector<std::size_t> first;
    std::vector<int> to;
};

// Counts occurrences of a few distinct numbers.
struct Tally {
    void add(int what, std::size_t times = 1) {
        for (auto& [seen, count] : counts)
            if (seen == what) {
                count += times;
                return;
            }
        counts.emplace_back(what, times);
    }
    std::vector<std::pair<int, std::size_t>> counts;
};

// A cable in a spine is no evidence for a unit.
inline bool shapes_units(const Fabric& fabric, int leaf) {
    return leaf != none && fabric.switches[static_cast<std::size_t>(leaf)].tier == 0;
}

// For each switch, the number of compute cables of each unit on it.
std::vector<Tally> cables_by_unit(const Fabric& fabric);

void derive_tiers(Fabric& fabric, const Neighbours& neighbours);       // Switch::tier, Fabric::tiers
void derive_units(Fabric& fabric);                                     // needs tiers and HcaPort::leaf
void derive_unit_leaves(Fabric& fabric, const Neighbours& neighbours); // needs the hosts of units
void derive_pods(Fabric& fabric, const Neighbours& neighbours);        // needs the leaves of units

} // namespace topo
