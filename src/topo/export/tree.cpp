#include "topo/export/tree.hpp"

#include "topo/names.hpp"
#include "topo/sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace topo::exports {
namespace {

bool safe(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

// The name of a unit's only leaf, in fabrics whose units have one; else the unit's name.
std::string unit_name(const Fabric& fabric, const Unit& unit) {
    if (!unit.more_leaves.empty()) return unit.name;
    int only = none;
    for (const int leaf : unit.leaves) {
        if (leaf == none) continue;
        if (only != none && only != leaf) return unit.name;
        only = leaf;
    }
    return only == none || fabric.switches[at(only)].name.empty() ? unit.name
                                                                  : fabric.switches[at(only)].name;
}

// Puts the branches of the top level under new ones, one for each value of `group_of`; does nothing if that
// would only repeat the level.
template <class GroupOf, class Name>
void add_level(Tree& tree, std::string word, GroupOf group_of, SafeNames& names, Name name) {
    const auto top = tree.levels.size() - 1;
    std::vector<std::size_t> members;
    std::vector<std::vector<std::size_t>> groups;
    std::map<int, std::size_t> known;
    for (std::size_t b = 0; b < tree.branches.size(); ++b) {
        if (tree.branches[b].level != top) continue;
        const auto [found, fresh] = known.try_emplace(group_of(b), groups.size());
        if (fresh) groups.emplace_back();
        groups[found->second].push_back(b);
        members.push_back(b);
    }
    if (groups.size() == members.size()) return;
    tree.levels.push_back(std::move(word));
    for (std::size_t g = 0; g < groups.size(); ++g)
        tree.branches.push_back(
            {names.add(name(groups[g].front(), groups.size())), top + 1, {}, std::move(groups[g])});
}

} // namespace

base::Expected<Selection> select(const Fabric& fabric, const std::vector<std::string>& nodes) {
    std::vector<char> wanted(fabric.hosts.size(), nodes.empty() ? 1 : 0);
    std::vector<std::string> unknown;
    for (const auto& name : nodes) {
        if (const auto host = fabric.find_host(name))
            wanted[*host] = 1;
        else
            unknown.push_back(name);
    }
    if (!unknown.empty()) {
        constexpr std::size_t most = 8;
        const auto count = unknown.size();
        unknown.resize(std::min(count, most));
        return base::Error{base::Code::usage,
                           fmt::format("--nodes: {}{} not in the fabric; railtopo show lists its hosts",
                                       fmt::join(unknown, ", "),
                                       count > most ? fmt::format(" and {} more are", count - most)
                                       : count == 1 ? " is"
                                                    : " are")};
    }
    Selection selection;
    for (const Pod& pod : fabric.pods)
        for (const auto u : pod.units) {
            Selection::Part part{u, {}};
            for (const auto h : fabric.units[u].hosts)
                if (wanted[h] != 0) part.hosts.push_back(h);
            selection.hosts += part.hosts.size();
            if (!part.hosts.empty()) selection.parts.push_back(std::move(part));
        }
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h)
        if (wanted[h] != 0 && fabric.hosts[h].unit == none) selection.unitless.push_back(h);
    return selection;
}

void take_beside(const Fabric& fabric, Selection& selection) {
    std::map<int, std::vector<std::uint32_t>> on; // by switch
    std::erase_if(selection.unitless, [&](std::uint32_t h) {
        for (const Hca& hca : fabric.hosts[h].hcas)
            for (const HcaPort& port : hca.ports)
                if (hca.rail != none && port.leaf != none) {
                    on[port.leaf].push_back(h);
                    return true;
                }
        return false;
    });
    for (auto& [s, hosts] : on) {
        selection.hosts += hosts.size();
        selection.beside.push_back({s, std::move(hosts)});
    }
}

Tree logical_tree(const Fabric& fabric, const Selection& selection) {
    Tree tree;
    SafeNames names;
    tree.levels.emplace_back("unit");
    const auto first_leaf = [](const Unit& unit) {
        const auto leaf =
            std::find_if(unit.leaves.begin(), unit.leaves.end(), [](int l) { return l != none; });
        return leaf == unit.leaves.end() ? none : *leaf;
    };
    struct Place {
        int pod, leaf;
    };
    std::vector<Place> places; // for each branch: that of the first one below
    for (const auto& part : selection.parts) {
        const Unit& unit = fabric.units[part.unit];
        tree.branches.push_back({names.add(unit_name(fabric, unit)), 0, part.hosts, {}});
        places.push_back({unit.pod, first_leaf(unit)});
    }
    for (const auto& beside : selection.beside) {
        const Switch& on = fabric.switches[at(beside.on)];
        tree.branches.push_back({names.add(on.name), 0, beside.hosts, {}});
        places.push_back({on.pod, beside.on});
    }
    const auto know_places = [&] {
        for (auto b = places.size(); b < tree.branches.size(); ++b)
            places.push_back(places[tree.branches[b].below.front()]);
    };
    const auto alone = [](std::size_t b) { return -2 - static_cast<int>(b); };
    add_level(
        tree, "pod", [&](std::size_t b) { return places[b].pod == none ? alone(b) : places[b].pod; }, names,
        [&](std::size_t first, std::size_t) {
            return places[first].pod == none ? tree.branches[first].name
                                             : fabric.pods[at(places[first].pod)].name;
        });
    know_places();

    // Above the pods: groups that meet in the switches of each further tier.
    Sets sets(fabric.switches.size());
    for (const Unit& unit : fabric.units)
        for (const int leaf : unit.leaves)
            if (leaf != none) sets.join(leaf, first_leaf(unit));
    std::vector<int> leaf_of_pod(fabric.pods.size(), none);
    for (const Unit& unit : fabric.units) {
        const int leaf = first_leaf(unit);
        if (leaf == none || unit.pod == none) continue;
        int& known = leaf_of_pod[at(unit.pod)];
        if (known == none) known = leaf;
        sets.join(known, leaf);
    }
    for (int tier = 2; tier < fabric.tiers; ++tier) {
        for (const Link& link : fabric.links) {
            if (link.a.switch_ == none || link.b.switch_ == none || link.state == LinkState::down) continue;
            const int a = fabric.switches[at(link.a.switch_)].tier,
                      b = fabric.switches[at(link.b.switch_)].tier;
            if (a != none && b != none && std::max(a, b) <= tier) sets.join(link.a.switch_, link.b.switch_);
        }
        const std::string word = tier == 2 ? "core" : fmt::format("tier{}", tier);
        std::size_t number = 0;
        add_level(
            tree, word,
            [&](std::size_t b) { return places[b].leaf == none ? alone(b) : sets.find(places[b].leaf); },
            names,
            [&](std::size_t, std::size_t groups) {
                ++number;
                return groups == 1 ? word : fmt::format("{}{}{}", word, tier == 2 ? "" : "-", number);
            });
        know_places();
    }

    // Other connected parts have one root: pods whose spines are connected to each other, without cores.
    for (const Link& link : fabric.links)
        if (link.a.switch_ != none && link.b.switch_ != none && link.state != LinkState::down)
            sets.join(link.a.switch_, link.b.switch_);
    std::size_t parts = 0;
    add_level(
        tree, "fabric",
        [&](std::size_t b) { return places[b].leaf == none ? alone(b) : sets.find(places[b].leaf); }, names,
        [&](std::size_t, std::size_t groups) {
            return groups == 1 ? std::string("fabric") : fmt::format("fabric{}", ++parts);
        });
    return tree;
}

bool safe_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && name.front() != '-' && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), safe);
}

std::string SafeNames::add(std::string_view wanted) {
    constexpr std::size_t longest = 58; // leaves room for a number
    std::string name(wanted.substr(0, longest));
    for (char& c : name)
        if (!safe(c)) c = '_';
    if (!safe_name(name)) name.insert(0, "s");
    auto unique = name;
    while (!taken_.try_emplace(unique, 2).second)
        unique = fmt::format("{}_{}", name, taken_[name]++);
    return unique;
}

} // namespace topo::exports
