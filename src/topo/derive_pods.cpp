// Pods: units whose leaves share spines, or are cabled to each other instead.
#include "topo/derive_parts.hpp"
#include "topo/names.hpp"
#include "topo/sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace topo {
namespace {

template <class Visit> void each_leaf(const Unit& unit, Visit visit) {
    for (const int leaf : unit.leaves)
        if (leaf != none) visit(leaf);
    for (const int leaf : unit.more_leaves)
        visit(leaf);
}

// For each switch, the unit whose leaf it is; if units share it, the one with most cables there.
std::vector<int> units_of_leaves(const Fabric& fabric) {
    const auto cables = cables_by_unit(fabric);
    std::vector<int> unit_of(fabric.switches.size(), none);
    std::vector<std::size_t> most(fabric.switches.size(), 0);
    for (int u = 0; at(u) < fabric.units.size(); ++u)
        each_leaf(fabric.units[at(u)], [&](int leaf) {
            std::size_t own = 0;
            for (const auto& [unit, count] : cables[at(leaf)].counts)
                if (unit == u) own = count;
            if (unit_of[at(leaf)] != none && own <= most[at(leaf)]) return;
            unit_of[at(leaf)] = u;
            most[at(leaf)] = own;
        });
    return unit_of;
}

// Units whose leaves have at least as many cables to those of other units as to spines: in a ring, or to one
// in the middle that carries hosts. A single such cable besides spines is a fault.
void join_leaves(const Neighbours& neighbours, const std::vector<int>& unit_of,
                 const std::vector<std::size_t>& uplinks, Sets& units) {
    const auto each = [&](auto visit) {
        for (int s = 0; at(s) < unit_of.size(); ++s)
            neighbours.each(s, [&](int other) {
                if (const int u = unit_of[at(s)], v = unit_of[at(other)]; u != none && v != none && u != v)
                    visit(u, v);
            });
    };
    std::vector<std::size_t> beside(uplinks.size(), 0);
    each([&](int u, int) { ++beside[at(u)]; });
    each([&](int u, int v) {
        if (beside[at(u)] >= uplinks[at(u)]) units.join(u, v);
    });
}

} // namespace

void derive_pods(Fabric& fabric, const Neighbours& neighbours) {
    const auto unit_of = units_of_leaves(fabric);

    // The spines above each unit, with the number of its uplinks there. A unit with less than a quarter of
    // another's uplinks to the same spine does not count: a crossed cable.
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

    // If a unit shares no more than half of its uplinks, only those units count with which it shares a
    // quarter of theirs: one stray cable to a spine of the other does not make them a pod.
    struct Claim {
        int unit = none;
        std::size_t links = 0;
    };
    struct Share {
        std::size_t own = 0, theirs = 0, of_theirs = 0; // the last: uplinks of the unit that has most
    };
    Sets units(fabric.units.size());
    std::vector<Claim> claims(fabric.switches.size()); // for each spine: the first unit below it
    for (int u = 0; at(u) < fabric.units.size(); ++u) {
        std::unordered_map<int, Share> shares; // by the representative of the other units
        for (const auto& [spine, count] : spines[at(u)]) {
            const Claim& claim = claims[at(spine)];
            if (claim.unit == none) continue;
            Share& share = shares[units.find(claim.unit)];
            share.own += count;
            share.theirs += claim.links;
            share.of_theirs = std::max(share.of_theirs, uplinks[at(claim.unit)]);
        }
        for (const auto& [other, share] : shares)
            if (share.own * 4 >= uplinks[at(u)] &&
                (share.own * 2 > uplinks[at(u)] || share.theirs * 4 >= share.of_theirs))
                units.join(u, other);
        for (const auto& [spine, count] : spines[at(u)])
            if (claims[at(spine)].unit == none) claims[at(spine)] = {u, count};
    }
    join_leaves(neighbours, unit_of, uplinks, units);

    fabric.pods.clear();
    std::vector<int> pod_of(fabric.units.size(), none); // by representative
    for (int u = 0; at(u) < fabric.units.size(); ++u) {
        int& pod = pod_of[at(units.find(u))];
        if (pod == none) {
            pod = static_cast<int>(fabric.pods.size());
            fabric.pods.emplace_back().name = fmt::format("pod{}", pod + 1);
        }
        fabric.pods[at(pod)].units.push_back(static_cast<std::uint32_t>(u));
        fabric.units[at(u)].pod = pod;
    }
    for (std::size_t s = 0; s < unit_of.size(); ++s)
        if (unit_of[s] != none) fabric.switches[s].pod = fabric.units[at(unit_of[s])].pod;
    // A spine belongs to the pod of most of its leaves.
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

} // namespace topo
