// The leaves of units: where most of a unit's hosts have each rail.
#include "topo/derive_parts.hpp"
#include "topo/names.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace topo {
namespace {

// Chooses among the leaves on which a unit's hosts have a rail. Grouping::place() used the first one found,
// which may be that of one host with a cable in another unit.
class Majority {
public:
    Majority(const Fabric& fabric, const Neighbours& neighbours)
        : fabric_(fabric), neighbours_(neighbours), cables_(cables_by_unit(fabric)) {}

    std::vector<int> leaves(int u) const {
        const Unit& unit = fabric_.units[at(u)];
        const auto& learnt = unit.leaves;
        auto chosen = learnt;
        for (std::size_t r = 0; r < learnt.size(); ++r)
            if (learnt[r] != none) chosen[r] = leaf_of(u, r);
        for (std::size_t r = 0; r < learnt.size(); ++r)
            if (learnt[r] != none && is_of_another(unit, r, chosen)) chosen[r] = none;
        // Where halves of a unit contradict each other, no leaf is taken from both halves for two rails.
        for (std::size_t r = 0; r < learnt.size(); ++r)
            for (std::size_t q = 0; q < learnt.size() && chosen[r] != learnt[r] && chosen[r] != none; ++q)
                if (q != r && chosen[q] == chosen[r] && learnt[q] != learnt[r]) chosen[r] = learnt[r];
        return chosen;
    }

    // The leaves of HCA ports after the first linked one, if most of the unit's hosts have one, or half and
    // the leaf is the unit's own. `leaves`: those of the first port.
    std::vector<int> more(int u, const std::vector<int>& leaves) const {
        const Unit& unit = fabric_.units[at(u)];
        std::map<int, std::size_t> hosts;
        for (const auto h : unit.hosts)
            for (const int leaf : further_leaves(fabric_.hosts[h]))
                ++hosts[leaf];
        std::vector<int> found;
        for (const auto& [leaf, count] : hosts)
            if ((count * 2 > unit.hosts.size() || (count * 2 == unit.hosts.size() && mostly_of(leaf, u))) &&
                std::find(leaves.begin(), leaves.end(), leaf) == leaves.end())
                found.push_back(leaf);
        return found;
    }

private:
    static std::set<int> further_leaves(const Host& host) {
        std::set<int> leaves;
        for (const Hca& hca : host.hcas) {
            if (hca.rail == none || hca.ports.size() < 2) continue;
            for (const HcaPort& port : hca.ports)
                if (port.leaf != none) leaves.insert(port.leaf);
        }
        for (const int leaf : host.leaves)
            leaves.erase(leaf);
        return leaves;
    }

    int leaf_of(int u, std::size_t rail) const {
        const Unit& unit = fabric_.units[at(u)];
        Tally votes;
        for (const auto h : unit.hosts)
            if (const int leaf = fabric_.hosts[h].leaves[rail]; shapes_units(fabric_, leaf)) votes.add(leaf);
        std::size_t most = 0;
        for (const auto& [leaf, count] : votes.counts)
            most = std::max(most, count);
        std::vector<int> tied;
        for (const auto& [leaf, count] : votes.counts)
            if (count == most) tied.push_back(leaf);
        if (tied.empty()) return unit.leaves[rail];
        if (tied.size() == 1) return tied.front();
        const auto rank = [&](int leaf) {
            return std::tuple(mostly_of(leaf, u), leaves_beside(leaf, unit, tied), leaf == unit.leaves[rail],
                              -leaf);
        };
        return *std::max_element(tied.begin(), tied.end(), [&](int a, int b) { return rank(a) < rank(b); });
    }

    std::size_t hosts_on(const Unit& unit, std::size_t rail, int leaf) const {
        return static_cast<std::size_t>(
            std::count_if(unit.hosts.begin(), unit.hosts.end(),
                          [&](std::uint32_t h) { return fabric_.hosts[h].leaves[rail] == leaf; }));
    }
    // Whether a leaf that one host of many has for a rail is the unit's leaf of another: a crossed cable,
    // where the leaf of this rail is not there.
    bool is_of_another(const Unit& unit, std::size_t rail, const std::vector<int>& chosen) const {
        constexpr std::size_t many = 4;
        if (unit.hosts.size() < many || hosts_on(unit, rail, chosen[rail]) != 1) return false;
        for (std::size_t q = 0; q < chosen.size(); ++q)
            if (q != rail && chosen[q] == chosen[rail] &&
                hosts_on(unit, q, chosen[q]) * 2 > unit.hosts.size())
                return true;
        return false;
    }

    bool mostly_of(int leaf, int u) const {
        std::size_t own = 0, others = 0;
        for (const auto& [unit, count] : cables_[at(leaf)].counts)
            if (unit == u)
                own = count;
            else
                others = std::max(others, count);
        return own > others;
    }

    // How many of the unit's other leaves share a spine with this one.
    std::size_t leaves_beside(int leaf, const Unit& unit, const std::vector<int>& tied) const {
        std::set<int> above;
        neighbours_.each(leaf, [&](int s) { above.insert(s); });
        std::size_t count = 0;
        for (const int other : unit.leaves) {
            if (other == none || std::find(tied.begin(), tied.end(), other) != tied.end()) continue;
            bool shared = false;
            neighbours_.each(other, [&](int s) { shared = shared || above.contains(s); });
            count += shared ? 1 : 0;
        }
        return count;
    }

    const Fabric& fabric_;
    const Neighbours& neighbours_;
    std::vector<Tally> cables_; // by leaf and unit
};

} // namespace

std::vector<Tally> cables_by_unit(const Fabric& fabric) {
    std::vector<Tally> cables(fabric.switches.size());
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports)
                if (hca.rail != none && port.leaf != none && host.unit != none)
                    cables[at(port.leaf)].add(host.unit);
    return cables;
}

void derive_unit_leaves(Fabric& fabric, const Neighbours& neighbours) {
    const Majority majority(fabric, neighbours);
    std::vector<std::vector<int>> leaves;
    for (int u = 0; at(u) < fabric.units.size(); ++u)
        leaves.push_back(majority.leaves(u));
    for (std::size_t u = 0; u < leaves.size(); ++u) {
        Unit& unit = fabric.units[u];
        unit.more_leaves = majority.more(static_cast<int>(u), leaves[u]);
        unit.leaves = std::move(leaves[u]);
    }
}

} // namespace topo
