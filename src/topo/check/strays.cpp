// Cables between switches that the tree has no place for: from leaf to leaf, loops, between planes, between
// the compute network and that of storage.
#include "topo/check/strays.hpp"

#include "topo/check/parts.hpp"
#include "topo/sets.hpp"

#include <fmt/format.h>

#include <optional>

namespace topo::checks {
namespace {

bool sideways(const Fabric& fabric, const Link& link) {
    if (link.a.switch_ == none || link.b.switch_ == none || link.a.switch_ == link.b.switch_) return false;
    return fabric.switches[at(link.a.switch_)].tier == fabric.switches[at(link.b.switch_)].tier;
}

std::string_view kind_of(int tier) {
    return tier == 0 ? "leaves" : tier == 1 ? "spines" : "switches of one tier";
}

// Leaves that are joined to each other by cables, and not by spines: a ring, or hosts on the switch in the
// middle. A network may be built so, but it is no tree.
void report_joined_leaves(const Fabric& fabric, const std::vector<std::size_t>& strays, Findings& findings) {
    Sets joined(fabric.switches.size());
    std::vector<const Link*> cables;
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const Link& link = fabric.links[l];
        if (!sideways(fabric, link) || fabric.switches[at(link.a.switch_)].tier != 0 ||
            std::binary_search(strays.begin(), strays.end(), l))
            continue;
        joined.join(link.a.switch_, link.b.switch_);
        cables.push_back(&link);
    }
    struct Group {
        std::size_t cables = 0;
        std::map<int, std::size_t> ends; // by switch
    };
    std::map<int, Group> groups;
    for (const Link* link : cables) {
        Group& group = groups[joined.find(link->a.switch_)];
        ++group.cables;
        ++group.ends[link->a.switch_];
        ++group.ends[link->b.switch_];
    }
    for (const auto& [first, group] : groups) {
        std::vector<int> switches;
        int middle = none;
        for (const auto& [s, ends] : group.ends) {
            switches.push_back(s);
            if (ends == group.cables) middle = s;
        }
        Finding finding{"leaf.joined",
                        Severity::info,
                        {switch_names(fabric, switches)},
                        {},
                        "nothing, if it was built so; keep jobs within a unit, or give the leaves spines"};
        finding.evidence = fmt::format("{} are cabled to each other, by {}", finding.ends.front(),
                                       counted(group.cables, "cable", "cables"));
        if (middle != none && switches.size() > 2)
            finding.evidence +=
                fmt::format(", all on {}, a spine that carries hosts", switch_name(fabric, middle));
        findings.push_back(std::move(finding));
    }
}

// What most of a leaf's HCAs are for, and most of what a spine's links to leaves lead to; nothing where less
// than two thirds are for one.
std::vector<std::optional<Role>> roles_of(const Fabric& fabric) {
    struct Votes {
        std::size_t compute = 0, storage = 0;
        std::optional<Role> role() const {
            if (compute > 2 * storage) return Role::compute;
            return storage > 2 * compute ? std::optional(Role::storage) : std::nullopt;
        }
    };
    std::vector<Votes> votes(fabric.switches.size());
    const auto vote = [&](int s, Role role) {
        ++(role == Role::compute ? votes[at(s)].compute : votes[at(s)].storage);
    };
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports)
                if (port.leaf != none && fabric.switches[at(port.leaf)].tier == 0) vote(port.leaf, hca.role);
    for (const Link& link : fabric.links)
        for (const auto& [lower, upper] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
            if (lower->switch_ == none || upper->switch_ == none) continue;
            if (fabric.switches[at(lower->switch_)].tier != 0 ||
                fabric.switches[at(upper->switch_)].tier != 1)
                continue;
            if (const auto role = votes[at(lower->switch_)].role()) vote(upper->switch_, *role);
        }
    std::vector<std::optional<Role>> roles;
    for (const Votes& one : votes)
        roles.push_back(one.role());
    return roles;
}

// Cables from a leaf to a spine of the other network, where most cables of the leaf lead to spines of its
// own.
std::vector<char> into_other_networks(const Fabric& fabric) {
    const auto roles = roles_of(fabric);
    std::vector<char> found(fabric.links.size(), 0);
    struct Uplinks {
        std::size_t own = 0, all = 0;
    };
    std::vector<Uplinks> uplinks(fabric.switches.size());
    bool any = false;
    const auto each = [&](auto visit) {
        for (std::size_t l = 0; l < fabric.links.size(); ++l) {
            const Link& link = fabric.links[l];
            if (link.a.switch_ == none || link.b.switch_ == none) continue;
            const bool ahead = fabric.switches[at(link.a.switch_)].tier == 0;
            const auto leaf = at(ahead ? link.a.switch_ : link.b.switch_),
                       spine = at(ahead ? link.b.switch_ : link.a.switch_);
            if (fabric.switches[leaf].tier == 0 && fabric.switches[spine].tier == 1) visit(l, leaf, spine);
        }
    };
    each([&](std::size_t l, std::size_t leaf, std::size_t spine) {
        ++uplinks[leaf].all;
        uplinks[leaf].own += roles[leaf] == roles[spine] ? 1U : 0U;
        found[l] = roles[leaf] && roles[spine] && roles[leaf] != roles[spine] ? 1 : 0;
        any = any || found[l] != 0;
    });
    if (any)
        each([&](std::size_t l, std::size_t leaf, std::size_t) {
            if (uplinks[leaf].own * 2 <= uplinks[leaf].all) found[l] = 0;
        });
    return found;
}

} // namespace

std::vector<std::size_t> stray_links(const Fabric& fabric) {
    std::vector<std::size_t> beside(fabric.switches.size(), 0), above(fabric.switches.size(), 0); // links
    for (const Link& link : fabric.links) {
        if (sideways(fabric, link)) {
            ++beside[at(link.a.switch_)];
            ++beside[at(link.b.switch_)];
        } else if (link.a.switch_ != none && link.b.switch_ != none) {
            const bool a =
                fabric.switches[at(link.a.switch_)].tier < fabric.switches[at(link.b.switch_)].tier;
            ++above[at(a ? link.a.switch_ : link.b.switch_)];
        }
    }
    std::map<int, std::pair<std::size_t, std::size_t>> tiers; // with such links, of all
    for (std::size_t s = 0; s < beside.size(); ++s) {
        auto& [with, all] = tiers[fabric.switches[s].tier];
        with += beside[s] != 0 ? 1 : 0;
        ++all;
    }
    const auto has_spines = [&](int s) {
        return fabric.switches[at(s)].tier == 0 && beside[at(s)] * 4 <= above[at(s)];
    };
    const auto into_other = into_other_networks(fabric);
    std::vector<std::size_t> found;
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const Link& link = fabric.links[l];
        if (into_other[l] != 0) {
            found.push_back(l);
            continue;
        }
        const bool loop = link.a.switch_ != none && link.a.switch_ == link.b.switch_;
        if (!loop && !sideways(fabric, link)) continue;
        const auto& [with, all] = tiers[fabric.switches[at(link.a.switch_)].tier];
        if (loop || with * 2 <= all || (has_spines(link.a.switch_) && has_spines(link.b.switch_)))
            found.push_back(l);
    }
    return found;
}

void strays(const Fabric& fabric, Findings& findings) {
    const auto found = stray_links(fabric);
    report_joined_leaves(fabric, found, findings);
    if (found.empty()) return;
    Sets joined(fabric.switches.size()); // without what is found
    auto next = found.begin();
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const Link& link = fabric.links[l];
        if (next != found.end() && *next == l) {
            ++next;
            continue;
        }
        if (link.a.switch_ != none && link.b.switch_ != none) joined.join(link.a.switch_, link.b.switch_);
    }
    for (const auto l : found) {
        const Link& link = fabric.links[l];
        const auto a = end_name(fabric, link.a), b = end_name(fabric, link.b);
        Finding finding{
            "link.sideways", Severity::warning, {a, b}, {}, "unplug it, or move it to where it belongs"};
        if (link.a.switch_ == link.b.switch_) {
            finding.code = "link.loop";
            finding.evidence = fmt::format("a cable joins {} to {}, a port of the same switch", a, b);
        } else {
            finding.evidence =
                sideways(fabric, link)
                    ? fmt::format("a cable joins {} to {}: two {}, where others have no such cable", a, b,
                                  kind_of(fabric.switches[at(link.a.switch_)].tier))
                    : fmt::format("a cable joins {} to {}: a leaf and a spine of which one is of storage, "
                                  "where others have no such cable",
                                  a, b);
            if (joined.find(link.a.switch_) != joined.find(link.b.switch_)) {
                finding.code = "link.between_networks";
                finding.evidence += ", and networks that nothing else joins";
            }
        }
        findings.push_back(std::move(finding));
    }
}

} // namespace topo::checks
