#include "topo/derive.hpp"

#include "base/fnv.hpp"
#include "topo/names.hpp"
#include "topo/order.hpp"
#include "topo/sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace topo {
namespace {

// Switch neighbours, one entry a link: neighbours of s are to[first[s]] … to[first[s + 1] - 1].
struct Neighbours {
    explicit Neighbours(const Fabric& fabric) : first(fabric.switches.size() + 1, 0) {
        const auto between_switches = [](const Link& link) {
            return link.a.switch_ != none && link.b.switch_ != none;
        };
        for (const Link& link : fabric.links) {
            if (!between_switches(link)) continue;
            ++first[at(link.a.switch_) + 1];
            ++first[at(link.b.switch_) + 1];
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        to.resize(first.back());
        auto next = first;
        for (const Link& link : fabric.links) {
            if (!between_switches(link)) continue;
            to[next[at(link.a.switch_)]++] = link.b.switch_;
            to[next[at(link.b.switch_)]++] = link.a.switch_;
        }
    }
    std::size_t count(int s) const { return first[at(s) + 1] - first[at(s)]; }

    template <class Visit> void each(int s, Visit visit) const {
        for (auto i = first[at(s)]; i < first[at(s) + 1]; ++i)
            visit(to[i]);
    }

    std::vector<int> sorted(int s) const {
        std::vector<int> all;
        each(s, [&](int n) { all.push_back(n); });
        std::sort(all.begin(), all.end());
        return all;
    }

    std::vector<std::size_t> first;
    std::vector<int> to;
};

void derive_hosts(Fabric& fabric) {
    fabric.host_index.clear();
    fabric.rails = 0;
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
        Host& host = fabric.hosts[h];
        fabric.host_index.emplace(host.name, static_cast<std::uint32_t>(h));
        host.unit = none;
        for (Hca& hca : host.hcas) {
            fabric.rails = std::max(fabric.rails, hca.rail + 1);
            for (HcaPort& port : hca.ports)
                port.link = port.leaf = none;
        }
    }
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const Link& link = fabric.links[l];
        for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
            if (here->host == none) continue;
            for (HcaPort& port : fabric.hosts[at(here->host)].hcas[at(here->hca)].ports) {
                if (port.number != here->port) continue;
                port.link = static_cast<int>(l);
                port.leaf = there->switch_;
            }
        }
    }
    for (Host& host : fabric.hosts) {
        host.leaves.assign(at(fabric.rails), none);
        for (const Hca& hca : host.hcas) {
            if (hca.rail == none) continue;
            int& leaf = host.leaves[at(hca.rail)];
            for (const HcaPort& port : hca.ports)
                if (leaf == none) leaf = port.leaf;
        }
    }
}

// How many compute and storage HCAs are attached to each switch.
struct Load {
    std::size_t compute = 0, storage = 0;
};

std::vector<Load> switch_loads(const Fabric& fabric) {
    std::vector<Load> loads(fabric.switches.size());
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports)
                if (port.leaf != none)
                    ++(hca.role == Role::compute ? loads[at(port.leaf)].compute
                                                 : loads[at(port.leaf)].storage);
    return loads;
}

void derive_tiers(Fabric& fabric, const Neighbours& neighbours) {
    const auto loads = switch_loads(fabric);
    const auto thin = [&](int s) {
        const auto hcas = loads[at(s)].compute + loads[at(s)].storage;
        return hcas * 8 < hcas + neighbours.count(s);
    };
    const auto beside = [&](int s, const std::vector<char>& marked) {
        bool found = false;
        neighbours.each(s, [&](int n) { found = found || marked[at(n)] != 0; });
        return found;
    };
    for (Switch& s : fabric.switches)
        s.tier = s.pod = none;
    const int count = static_cast<int>(fabric.switches.size());
    std::vector<char> plain(loads.size(), 0), leaf(loads.size(), 0);
    for (int s = 0; s < count; ++s)
        plain[at(s)] = loads[at(s)].compute > 0 && !thin(s);
    std::vector<int> level;
    for (int s = 0; s < count; ++s)
        if (loads[at(s)].compute > 0 && (!thin(s) || !beside(s, plain))) {
            leaf[at(s)] = 1;
            level.push_back(s);
        }
    const bool computes = !level.empty();
    for (int s = 0; s < count; ++s)
        if (loads[at(s)].compute == 0 && loads[at(s)].storage > 0 && !(computes && thin(s)) &&
            !beside(s, leaf))
            level.push_back(s);
    for (const int s : level)
        fabric.switches[at(s)].tier = 0;
    fabric.tiers = level.empty() ? 0 : 1;
    // A leaf all of whose hosts are off looks upward as other leaves do.
    std::set<std::vector<int>> leaf_uplinks;
    for (const int s : level)
        leaf_uplinks.insert(neighbours.sorted(s));
    for (int tier = 1; !level.empty(); ++tier) {
        std::vector<int> next;
        for (const int s : level)
            neighbours.each(s, [&](int n) {
                if (fabric.switches[at(n)].tier != none) return;
                if (tier == 2 && leaf_uplinks.contains(neighbours.sorted(n))) {
                    fabric.switches[at(n)].tier = 0;
                    return;
                }
                fabric.switches[at(n)].tier = tier;
                next.push_back(n);
            });
        if (!next.empty()) fabric.tiers = tier + 1;
        level = std::move(next);
    }
}

// The leaves of all ports of all compute HCAs, each rail closed by a mark.
std::vector<int> leaf_vector(const Host& host) {
    std::vector<int> leaves;
    for (const Hca& hca : host.hcas) {
        if (hca.rail == none) continue;
        leaves.push_back(-2 - hca.rail);
        for (const HcaPort& port : hca.ports)
            if (port.leaf != none) leaves.push_back(port.leaf);
    }
    return leaves;
}

struct LeavesHash {
    std::size_t operator()(const std::vector<int>& leaves) const {
        base::Fnv1a hash;
        for (const int leaf : leaves)
            hash.add(static_cast<std::uint32_t>(leaf));
        return hash.value() ^ (hash.value() >> 32);
    }
};

// Counts what few distinct numbers were seen.
struct Tally {
    void add(int what) {
        for (auto& [seen, count] : counts)
            if (seen == what) {
                ++count;
                return;
            }
        counts.emplace_back(what, 1);
    }
    std::vector<std::pair<int, std::size_t>> counts;
};

// The leaves of HCAs' ports beside the first linked one, where at least half of the unit's hosts have one.
std::vector<int> more_leaves(const Fabric& fabric, const Unit& unit) {
    std::map<int, std::size_t> hosts;
    for (const auto h : unit.hosts) {
        std::set<int> leaves;
        for (const Hca& hca : fabric.hosts[h].hcas) {
            if (hca.rail == none || hca.ports.size() < 2) continue;
            for (const HcaPort& port : hca.ports)
                if (port.leaf != none) leaves.insert(port.leaf);
        }
        for (const int leaf : fabric.hosts[h].leaves)
            leaves.erase(leaf);
        for (const int leaf : leaves)
            ++hosts[leaf];
    }
    std::vector<int> more;
    for (const auto& [leaf, count] : hosts)
        if (count * 2 >= unit.hosts.size() &&
            std::find(unit.leaves.begin(), unit.leaves.end(), leaf) == unit.leaves.end())
            more.push_back(leaf);
    return more;
}

void derive_units(Fabric& fabric) {
    struct Group {
        std::vector<int> leaves; // only real ones
        std::vector<int> rails;  // of each
        std::vector<std::uint32_t> hosts;
    };
    std::vector<Group> groups;
    std::unordered_map<std::vector<int>, std::size_t, LeavesHash> group_of;
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
        const auto leaves = leaf_vector(fabric.hosts[h]);
        const auto [found, fresh] = group_of.try_emplace(leaves, groups.size());
        if (fresh) {
            auto& group = groups.emplace_back();
            int rail = none;
            for (const int leaf : leaves) {
                if (leaf < 0) {
                    rail = -2 - leaf;
                    continue;
                }
                group.leaves.push_back(leaf);
                group.rails.push_back(rail);
            }
        }
        groups[found->second].hosts.push_back(h);
    }
    std::erase_if(groups, [](const Group& group) { return group.leaves.empty(); });
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
        if (a.hosts.size() != b.hosts.size()) return a.hosts.size() > b.hosts.size();
        return a.leaves.size() > b.leaves.size();
    });

    fabric.units.clear();
    std::vector<int> owner(fabric.switches.size(), none);
    for (Group& group : groups) {
        Tally votes;
        for (const int leaf : group.leaves)
            if (owner[at(leaf)] != none) votes.add(owner[at(leaf)]);
        // Rails that none of a unit's hosts had so far speak neither for it nor against it.
        const auto comparable = [&](int unit) {
            const auto& known = fabric.units[at(unit)].leaves;
            return static_cast<std::size_t>(std::count_if(group.rails.begin(), group.rails.end(),
                                                          [&](int r) { return known[at(r)] != none; }));
        };
        int joined = none;
        std::size_t best = 0;
        for (const auto& [unit, count] : votes.counts)
            if (count > best && count * 3 >= comparable(unit) * 2) {
                joined = unit;
                best = count;
            }
        if (joined == none) {
            joined = static_cast<int>(fabric.units.size());
            fabric.units.emplace_back().leaves.assign(at(fabric.rails), none);
        }
        Unit& unit = fabric.units[at(joined)];
        unit.hosts.insert(unit.hosts.end(), group.hosts.begin(), group.hosts.end());
        // A rail that the majority lacks is learnt from a host that has it on an unclaimed leaf.
        const Host& first = fabric.hosts[group.hosts.front()];
        for (std::size_t r = 0; r < first.leaves.size(); ++r) {
            const int leaf = first.leaves[r];
            if (leaf != none && unit.leaves[r] == none &&
                (owner[at(leaf)] == none || owner[at(leaf)] == joined || best == 0))
                unit.leaves[r] = leaf;
        }
        for (const int leaf : group.leaves)
            if (owner[at(leaf)] == none) owner[at(leaf)] = joined;
    }

    for (Unit& unit : fabric.units) {
        std::sort(unit.hosts.begin(), unit.hosts.end());
        unit.more_leaves = more_leaves(fabric, unit);
    }
    std::sort(fabric.units.begin(), fabric.units.end(),
              [](const Unit& a, const Unit& b) { return a.hosts.front() < b.hosts.front(); });
    for (std::size_t u = 0; u < fabric.units.size(); ++u) {
        fabric.units[u].name = fmt::format("su{}", u + 1);
        for (const auto h : fabric.units[u].hosts)
            fabric.hosts[h].unit = static_cast<int>(u);
    }
}

template <class Visit> void each_leaf(const Unit& unit, Visit visit) {
    for (const int leaf : unit.leaves)
        if (leaf != none) visit(leaf);
    for (const int leaf : unit.more_leaves)
        visit(leaf);
}

void derive_pods(Fabric& fabric, const Neighbours& neighbours) {
    std::vector<int> unit_of(fabric.switches.size(), none); // by leaf
    for (int u = 0; at(u) < fabric.units.size(); ++u)
        each_leaf(fabric.units[at(u)], [&](int leaf) {
            if (unit_of[at(leaf)] == none) unit_of[at(leaf)] = u;
        });

    // The spines above each unit, with the number of its uplinks there. A unit that has less than a quarter
    // of the uplinks that another has to the same spine is not counted: a crossed cable.
    std::vector<std::vector<std::pair<int, std::size_t>>> spines(fabric.units.size());
    std::vector<std::size_t> uplinks(fabric.units.size(), 0);
    for (int s = 0; at(s) < fabric.switches.size(); ++s) {
        if (fabric.switches[at(s)].tier != 1) continue;
        Tally units;
        neighbours.each(s, [&](int leaf) {
            if (unit_of[at(leaf)] != none) units.add(unit_of[at(leaf)]);
        });
        std::size_t most = 0;
        for (const auto& [unit, count] : units.counts)
            most = std::max(most, count);
        for (const auto& [unit, count] : units.counts) {
            if (count * 4 < most) continue;
            spines[at(unit)].emplace_back(s, count);
            uplinks[at(unit)] += count;
        }
    }

    Sets units(fabric.units.size());
    std::vector<int> claimed(fabric.switches.size(), none); // spine → first unit below it
    for (int u = 0; at(u) < fabric.units.size(); ++u) {
        std::unordered_map<int, std::size_t> shared; // by the other units' representative
        for (const auto& [spine, count] : spines[at(u)])
            if (claimed[at(spine)] != none) shared[units.find(claimed[at(spine)])] += count;
        for (const auto& [other, count] : shared)
            if (count * 4 >= uplinks[at(u)]) units.join(u, other);
        for (const auto& [spine, count] : spines[at(u)])
            if (claimed[at(spine)] == none) claimed[at(spine)] = u;
    }

    fabric.pods.clear();
    std::vector<int> pod_of(fabric.units.size(), none); // by representative
    for (int u = 0; at(u) < fabric.units.size(); ++u) {
        int& pod = pod_of[at(units.find(u))];
        if (pod == none) {
            pod = static_cast<int>(fabric.pods.size());
            fabric.pods.emplace_back().name = fmt::format("pod{}", pod + 1);
        }
        fabric.pods[at(pod)].units.push_back(static_cast<std::uint32_t>(u));
        Unit& unit = fabric.units[at(u)];
        unit.pod = pod;
        each_leaf(unit, [&](int leaf) {
            if (fabric.switches[at(leaf)].pod == none) fabric.switches[at(leaf)].pod = pod;
        });
    }
    // A spine belongs to the pod most of its leaves are in.
    for (int s = 0; at(s) < fabric.switches.size(); ++s) {
        if (fabric.switches[at(s)].tier != 1) continue;
        Tally votes;
        neighbours.each(s, [&](int leaf) {
            if (fabric.switches[at(leaf)].tier == 0 && fabric.switches[at(leaf)].pod != none)
                votes.add(fabric.switches[at(leaf)].pod);
        });
        std::size_t best = 0;
        for (const auto& [pod, count] : votes.counts)
            if (count > best || (count == best && pod < fabric.switches[at(s)].pod)) {
                fabric.switches[at(s)].pod = pod;
                best = count;
            }
    }
}

void derive_islands(Fabric& fabric) {
    Sets joined(fabric.switches.size());
    for (const Link& link : fabric.links)
        if (link.a.switch_ != none && link.b.switch_ != none && link.state != LinkState::down)
            joined.join(link.a.switch_, link.b.switch_);
    fabric.islands.clear();
    std::vector<int> island_of(fabric.switches.size(), none); // by representative
    for (int s = 0; at(s) < fabric.switches.size(); ++s) {
        int& island = island_of[at(joined.find(s))];
        if (island == none) {
            island = static_cast<int>(fabric.islands.size());
            fabric.islands.emplace_back();
        }
        fabric.switches[at(s)].island = island;
        fabric.islands[at(island)].switches.push_back(s);
    }
    std::vector<std::vector<char>> has(fabric.islands.size(), std::vector<char>(at(fabric.rails), 0));
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports)
                if (hca.rail != none && port.leaf != none)
                    has[at(fabric.switches[at(port.leaf)].island)][at(hca.rail)] = 1;
    for (std::size_t i = 0; i < has.size(); ++i)
        for (int r = 0; r < fabric.rails; ++r)
            if (has[i][at(r)] != 0) fabric.islands[i].rails.push_back(r);
}

} // namespace

void derive(Fabric& fabric) {
    put_in_order(fabric);
    for (std::size_t s = 0; s < fabric.switches.size(); ++s) // in the order of names
        fabric.switches[s].namesake =
            (s > 0 && fabric.switches[s - 1].name == fabric.switches[s].name) ||
            (s + 1 < fabric.switches.size() && fabric.switches[s + 1].name == fabric.switches[s].name);
    derive_hosts(fabric);
    const Neighbours neighbours(fabric);
    derive_tiers(fabric, neighbours);
    derive_units(fabric);
    derive_pods(fabric, neighbours);
    derive_islands(fabric);
}

} // namespace topo
