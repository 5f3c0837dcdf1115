// Cables between switches that do not fit a tree: from leaf to leaf, loops, between planes, between the
// compute network and the storage network.
#include "topo/check/strays.hpp"

#include "topo/check/parts.hpp"
#include "topo/sets.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

bool sideways(const Fabric& fabric, const Link& link) {
    if (link.a.switch_ == none || link.b.switch_ == none || link.a.switch_ == link.b.switch_) return false;
    return fabric.switches[at(link.a.switch_)].tier == fabric.switches[at(link.b.switch_)].tier;
}

// The links between switches of one tier in a fabric, part of the network or stray.
class Sideways {
public:
    explicit Sideways(const Fabric& fabric)
        : fabric_(fabric), beside_(fabric.switches.size(), 0), above_(fabric.switches.size(), 0) {
        for (const Link& link : fabric.links) {
            const int a = link.a.switch_, b = link.b.switch_;
            if (sideways(fabric, link)) {
                ++beside_[at(a)];
                ++beside_[at(b)];
                Tier& tier = tiers_[fabric.switches[at(a)].tier];
                ++(in_one_pod(link) ? tier.within : tier.between);
            } else if (a != none && b != none) {
                ++above_[at(fabric.switches[at(a)].tier < fabric.switches[at(b)].tier ? a : b)];
            }
        }
        for (std::size_t s = 0; s < beside_.size(); ++s) {
            Tier& tier = tiers_[fabric.switches[s].tier];
            tier.with += beside_[s] != 0 ? 1 : 0;
            ++tier.all;
        }
    }

    // Whether this link should not exist.
    bool strays(const Link& link) const {
        const Tier& tier = tiers_.at(fabric_.switches[at(link.a.switch_)].tier);
        return tier.with * 2 <= tier.all || (has_spines(link.a.switch_) && has_spines(link.b.switch_)) ||
               (in_one_pod(link) && tier.within * 8 <= tier.between);
    }

private:
    struct Tier {
        std::size_t with = 0, all = 0;       // switches with such links
        std::size_t within = 0, between = 0; // such links within a pod, and between pods
    };
    bool in_one_pod(const Link& link) const {
        const int pod = fabric_.switches[at(link.a.switch_)].pod;
        return pod != none && pod == fabric_.switches[at(link.b.switch_)].pod;
    }
    bool has_spines(int s) const {
        return fabric_.switches[at(s)].tier == 0 && beside_[at(s)] * 4 <= above_[at(s)];
    }

    const Fabric& fabric_;
    std::vector<std::size_t> beside_, above_; // links of each switch, sideways and up
    std::map<int, Tier> tiers_;
};

std::string_view kind_of(int tier) {
    return tier == 0 ? "leaves" : tier == 1 ? "spines" : "switches of one tier";
}

// Leaves that are connected by cables to each other instead of spines: a ring, or hosts on the switch in the
// middle. A network may be built like this, but it is not a tree.
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

// What a switch is connected to.
struct Joints {
    std::size_t own = 0, others = 0; // links to switches of its own network, and of the other
    std::size_t hcas = 0;            // of compute hosts
    // Whether the links to the other network should not exist: most links stay in its own network, or they
    // are too few to serve the HCAs.
    bool strays() const { return own > others || (own == 0 && others * 8 <= hcas); }
};

// Cables between a switch of the compute network and one of the storage network, if these are separate.
std::vector<char> into_other_networks(const Fabric& fabric) {
    const auto roles = roles_of(fabric);
    std::vector<char> found(fabric.links.size(), 0);
    std::vector<Joints> joints(fabric.switches.size());
    bool any = false;
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const int a = fabric.links[l].a.switch_, b = fabric.links[l].b.switch_;
        if (a == none || b == none || a == b) continue;
        const bool apart = roles[at(a)] && roles[at(b)] && roles[at(a)] != roles[at(b)];
        for (const int s : {a, b})
            ++(apart ? joints[at(s)].others : joints[at(s)].own);
        found[l] = apart ? 1 : 0;
        any = any || apart;
    }
    if (!any) return found;
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports)
                if (host.unit != none && port.leaf != none) ++joints[at(port.leaf)].hcas;
    for (std::size_t l = 0; l < fabric.links.size(); ++l)
        if (found[l] != 0)
            found[l] = joints[at(fabric.links[l].a.switch_)].strays() &&
                               joints[at(fabric.links[l].b.switch_)].strays()
                           ? 1
                           : 0;
    return found;
}

} // namespace

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
                if (port.leaf != none && fabric.switches[at(port.leaf)].tier == 0 && !unidentified(host, hca))
                    vote(port.leaf, hca.role);
    for (int tier = 1; tier < fabric.tiers; ++tier)
        for (const Link& link : fabric.links)
            for (const auto& [lower, upper] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
                if (lower->switch_ == none || upper->switch_ == none) continue;
                if (fabric.switches[at(lower->switch_)].tier != tier - 1 ||
                    fabric.switches[at(upper->switch_)].tier != tier)
                    continue;
                if (const auto role = votes[at(lower->switch_)].role()) vote(upper->switch_, *role);
            }
    std::vector<std::optional<Role>> roles;
    for (const Votes& one : votes)
        roles.push_back(one.role());
    return roles;
}

std::vector<std::size_t> stray_links(const Fabric& fabric) {
    const Sideways all(fabric);
    const auto into_other = into_other_networks(fabric);
    std::vector<std::size_t> found;
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const Link& link = fabric.links[l];
        const bool loop = link.a.switch_ != none && link.a.switch_ == link.b.switch_;
        if (into_other[l] != 0 || loop || (sideways(fabric, link) && all.strays(link))) found.push_back(l);
    }
    return found;
}

void strays(const Fabric& fabric, Findings& findings) {
    const auto found = stray_links(fabric);
    report_joined_leaves(fabric, found, findings);
    if (found.empty()) return;
    Sets joined(fabric.switches.size()); // without the cables found
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
                    : fmt::format(
                          "a cable joins {} to {}: one is of the storage network, where others have no "
                          "such cable",
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
