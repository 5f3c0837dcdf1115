// Faults of uplinks and of whole switches.
#include "bench/fault_planter.hpp"

#include "topo/guid.hpp"
#include "topo/names.hpp"
#include "topo/numbered_name.hpp"

#include <algorithm>

namespace faults {

using topo::at;
using topo::none;

int Planter::core() {
    std::vector<int> cores;
    for (int s = 0; at(s) < sound_.switches.size(); ++s)
        if (sound_.switches[at(s)].tier == 2 && index_.contains(sound_.switches[at(s)].guid))
            cores.push_back(s);
    return cores.empty() ? none : cores[below(cores.size())];
}

bool Planter::uplink(std::string_view what, Planted& planted) {
    const int s = next_leaf();
    if (s == none) return false;
    const auto up = uplinks(s);
    const auto& one = *up[below(up.size())];
    const auto a = end(one.a), b = end(one.b);
    const bool ahead = one.a.switch_ == s;
    planted.places = {topo::end_name(sound_, ahead ? one.a : one.b)};
    if (what == "uplink_missing") {
        planted.places = {sound_.switches[at(s)].name};
        cut(a, b);
    } else if (what == "uplink_narrow" || what == "uplink_slow") {
        rate(a, b, what == "uplink_narrow");
    } else if (what == "uplinks_crossed") {
        for (auto t = leaves_.begin(); t != leaves_.end(); ++t) {
            if (sound_.switches[at(*t)].pod != sound_.switches[at(s)].pod) continue;
            for (const auto* other : uplinks(*t)) {
                const int spine = ahead ? one.b.switch_ : one.a.switch_;
                const int its = other->a.switch_ == *t ? other->b.switch_ : other->a.switch_;
                if (its == spine || sound_.switches[at(its)].island != sound_.switches[at(spine)].island)
                    continue;
                exchange(ahead ? a : b, other->a.switch_ == *t ? end(other->a) : end(other->b));
                leaves_.erase(t);
                return true;
            }
        }
        return false;
    } else { // uplink_moved
        const int spine = ahead ? one.b.switch_ : one.a.switch_;
        for (const auto* other : up) {
            const int its = other->a.switch_ == s ? other->b.switch_ : other->a.switch_;
            if (its == spine) continue;
            const auto guid = sound_.switches[at(its)].guid;
            const auto speed = port(a)->rate;
            const auto here = ahead ? a : b;
            cut(a, b);
            join(here, {guid, free_port(guid)}, speed);
            return true;
        }
        return false;
    }
    return true;
}

bool Planter::is_below(int host, int leaf) const {
    const auto& hcas = sound_.hosts[at(host)].hcas;
    return std::any_of(hcas.begin(), hcas.end(), [&](const topo::Hca& hca) {
        return std::any_of(hca.ports.begin(), hca.ports.end(),
                           [&](const topo::HcaPort& port) { return port.leaf == leaf; });
    });
}

bool Planter::unused_below(int leaf) const {
    for (int h = 0; at(h) < sound_.hosts.size(); ++h)
        if (sound_.hosts[at(h)].unit != none && is_below(h, leaf) &&
            std::find(hosts_.begin(), hosts_.end(), h) == hosts_.end())
            return false;
    return true;
}

bool Planter::whole_switch(std::string_view what, Planted& planted) {
    if (what == "leaf_narrow" || what == "leaf_to_leaf" || what == "leaf_to_core" || what == "loop") {
        const int s = next_leaf();
        if (what == "leaf_narrow" && s != none && !unused_below(s))
            return false; // it would hide what is there
        const int t = what == "leaf_to_leaf" ? next_leaf() : what == "leaf_to_core" ? core() : s;
        if (s == none || t == none) return false;
        const auto guid = sound_.switches[at(s)].guid;
        planted.places = {sound_.switches[at(s)].name};
        if (what == "leaf_narrow") {
            for (const auto& p : std::vector(node(guid).seen))
                if (p.linked && p.rate.width > 1) rate({guid, p.number}, {p.peer, p.peer_port}, true);
            std::erase_if(hosts_, [&](int h) { return is_below(h, s); }); // their links are narrow too
            return true;
        }
        connect(guid, sound_.switches[at(t)].guid);
        return true;
    }
    if (!planted_.empty()) return false; // cables of earlier faults may hang there
    const int tier = what == "core_gone" ? 2 : 1;
    std::vector<int> spines;
    for (int s = 0; at(s) < sound_.switches.size(); ++s) {
        const auto& spine = sound_.switches[at(s)];
        if (spine.tier != tier || (tier == 1 && spine.pod == none)) continue;
        const auto siblings =
            std::count_if(sound_.switches.begin(), sound_.switches.end(), [&](const auto& other) {
                return other.tier == tier && other.pod == spine.pod && other.island == spine.island;
            });
        if (siblings > 2) spines.push_back(s);
    }
    if (spines.empty()) return false;
    const int chosen = spines[below(spines.size())];
    const auto& spine = sound_.switches[at(chosen)];
    spines_.insert(chosen);
    planted.places = {spine.name};
    if (what == "spine_gone" || what == "core_gone") {
        drop(spine.guid);
    } else {
        for (const auto& p : std::vector(node(spine.guid).seen))
            if (p.linked) rate({spine.guid, p.number}, {p.peer, p.peer_port}, false);
    }
    return true;
}

// Whether four units or more have as many hosts as this one, and its hosts' numbers are between those of the
// units beside it.
bool Planter::numbered_through(std::size_t u) const {
    const auto& units = sound_.units;
    const auto equal = std::count_if(units.begin(), units.end(), [&](const topo::Unit& other) {
        return other.hosts.size() == units[u].hosts.size();
    });
    std::vector<std::uint32_t> hosts;
    for (std::size_t v = u - 1; v <= u + 1; ++v)
        hosts.insert(hosts.end(), units[v].hosts.begin(), units[v].hosts.end());
    const auto first = topo::numbered(sound_.hosts[hosts.front()].name);
    for (std::uint32_t i = 0; i < hosts.size(); ++i)
        if (!first || sound_.hosts[hosts[i]].name != first->at(first->number + i)) return false;
    return equal >= 4;
}

// One between others: a leaf with all cables of a host takes the host along, and the first and last unit may
// never have been there.
bool Planter::whole_unit(std::string_view what, Planted& planted) {
    if (sound_.units.size() < 3) return false;
    const auto u = 1 + below(sound_.units.size() - 2);
    const auto& unit = sound_.units[u];
    int spine = none;
    for (int s = 0; at(s) < sound_.switches.size() && spine == none; ++s)
        if (sound_.switches[at(s)].tier == 1 && sound_.switches[at(s)].pod == unit.pod) spine = s;
    if (unit.hosts.size() < 8 || spine == none) return false;
    const auto leaf = unit.leaves[below(unit.leaves.size())];
    if (leaf == none) return false;
    std::erase_if(hosts_, [&](int h) { return sound_.hosts[at(h)].unit == static_cast<int>(u); });
    if (what == "leaf_gone") {
        planted.places = {sound_.switches[at(leaf)].name};
        std::erase(leaves_, leaf);
        drop(sound_.switches[at(leaf)].guid);
        std::vector<Guid> gone; // HCAs that no cable leads to
        for (const auto& n : raw_.nodes)
            if (n.kind == topo::RawNode::Kind::hca &&
                std::none_of(n.seen.begin(), n.seen.end(), [](const auto& p) { return p.linked; }))
                gone.push_back(n.guid);
        for (const Guid guid : gone)
            drop(guid);
        return true;
    }
    if (what == "unit_nameless") {
        for (const auto h : unit.hosts)
            for (const auto& hca : sound_.hosts[h].hcas) {
                describe(hca.guid, std::string(nameless));
                planted.places.push_back(topo::format_guid(hca.guid));
            }
        return true;
    }
    if (what == "unit_dark" || what == "unit_gone") {
        if (!numbered_through(u)) return false;
        for (const auto h : unit.hosts) {
            planted.places.push_back(sound_.hosts[h].name);
            for (const auto& hca : sound_.hosts[h].hcas)
                drop(hca.guid);
        }
        std::set<int> leaves(unit.leaves.begin(), unit.leaves.end());
        leaves.insert(unit.more_leaves.begin(), unit.more_leaves.end());
        leaves.erase(none);
        for (const int s : leaves) {
            std::erase(leaves_, s);
            if (what == "unit_gone") drop(sound_.switches[at(s)].guid);
        }
        return true;
    }
    const auto guid = sound_.switches[at(spine)].guid;
    const auto half = unit.hosts.size() / 2;
    if (node(guid).seen.size() + half * unit.leaves.size() > 254) return false;
    spines_.insert(spine);
    planted.places = {sound_.hosts[unit.hosts.front()].name};
    for (std::size_t i = 0; i < half; ++i)
        for (const int hca : rails(static_cast<int>(unit.hosts[i]))) {
            const auto& cable = link(static_cast<int>(unit.hosts[i]), hca);
            const auto here = host_end(cable);
            const auto speed = port(here)->rate;
            cut(here, switch_end(cable));
            join(here, {guid, free_port(guid)}, speed);
        }
    return true;
}

} // namespace faults
