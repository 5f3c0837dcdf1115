// Each link compared with similar links: state, width, speed.
#include "topo/check/parts.hpp"
#include "topo/check/strays.hpp"

#include "topo/numbered_name.hpp"
#include "topo/rate.hpp"
#include "topo/read/host_names.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <tuple>

namespace topo::checks {
namespace {

// The usual widths and speeds of a set of links: a host's compute links, a leaf's hosts, a switch's uplinks.
struct Usual {
    Mode<std::uint8_t> width;
    Mode<std::uint32_t> mbps;

    void add(const Link& link) {
        if (link.mbps == 0) return;
        width.add(link.width);
        mbps.add(link.mbps);
    }
    bool empty() const { return mbps.empty(); }
};

bool is_compute(const Fabric& fabric, const End& end) {
    return end.host != none && fabric.hosts[at(end.host)].hcas[at(end.hca)].role == Role::compute;
}

// The lower end of a link in the tree: a host, else the switch of the lower tier, else the first.
const End& lower_end(const Fabric& fabric, const Link& link) {
    if (link.a.host != none || link.b.host != none) return link.a.host != none ? link.a : link.b;
    return fabric.switches[at(link.b.switch_)].tier < fabric.switches[at(link.a.switch_)].tier ? link.b
                                                                                               : link.a;
}

// Links that should be equal across the fabric: of one device of hosts with similar names, or between two
// tiers.
using Kind = std::pair<std::string, std::string>;

Kind kind_of(const Fabric& fabric, const Link& link) {
    const End& lower = lower_end(fabric, link);
    if (lower.host != none) {
        const Host& host = fabric.hosts[at(lower.host)];
        return {name_shape(host.name), canonical_device(host.hcas[at(lower.hca)].device)};
    }
    const auto tier = [&](const End& end) {
        return fmt::format("{}", fabric.switches[at(end.switch_)].tier);
    };
    const End& upper = other_end(link, lower);
    return {tier(lower), upper.switch_ == none ? "" : tier(upper)};
}

// Hosts with at least three compute links are compared within themselves; smaller ones with their leaf.
constexpr std::size_t own_measure = 3;

// The leaf where an HCA should be, like the others of its unit; its actual leaf if that is unknown.
int proper_leaf(const Fabric& fabric, const End& lower, const End& upper) {
    const Host& host = fabric.hosts[at(lower.host)];
    const int rail = host.hcas[at(lower.hca)].rail;
    if (host.unit == none || rail == none || host.hcas[at(lower.hca)].ports.size() > 1) return upper.switch_;
    const int leaf = fabric.units[at(host.unit)].leaves[at(rail)];
    return leaf == none ? upper.switch_ : leaf;
}

struct Siblings {
    // `blamed`: switches all of whose links are slow, which are no evidence about the hosts below.
    Siblings(const Fabric& fabric, const std::vector<char>& blamed)
        : of_host(fabric.hosts.size()), of_leaf(fabric.switches.size()), of_any(fabric.switches.size()),
          of_uplinks(fabric.switches.size()) {
        for (const Link& link : fabric.links) {
            const End& lower = lower_end(fabric, link);
            const End& upper = other_end(link, lower);
            if (lower.host == none) {
                of_uplinks[at(lower.switch_)].add(link);
                continue;
            }
            if (upper.switch_ != none) of_any[at(upper.switch_)].add(link);
            if (!is_compute(fabric, lower)) {
                of_kind[kind_of(fabric, link)].add(link);
                continue;
            }
            if (upper.switch_ == none || blamed[at(upper.switch_)] == 0) of_host[at(lower.host)].add(link);
            if (const int leaf = proper_leaf(fabric, lower, upper); leaf != none) of_leaf[at(leaf)].add(link);
        }
    }
    // None if there is nothing to compare with.
    const Usual* of(const Fabric& fabric, const Link& link) const {
        const End& lower = lower_end(fabric, link);
        const Usual* usual = nullptr;
        if (lower.host == none) {
            usual = &of_uplinks[at(lower.switch_)];
            if (usual->mbps.total() < 2) usual = nullptr;
        } else if (is_compute(fabric, lower)) {
            usual = &of_host[at(lower.host)];
            if (usual->empty() || usual->mbps.total() < own_measure) {
                const int leaf = proper_leaf(fabric, lower, other_end(link, lower));
                usual = leaf == none ? nullptr : &of_leaf[at(leaf)];
            }
        } else if (nameless(fabric.hosts[at(lower.host)])) {
            const int leaf = other_end(link, lower).switch_; // no other links are comparable
            usual = leaf == none ? nullptr : &of_any[at(leaf)];
            if (usual != nullptr && usual->mbps.count() < own_measure) usual = nullptr;
        } else {
            usual = &of_kind.at(kind_of(fabric, link));
            if (usual->mbps.count() < own_measure || usual->mbps.count() * 2 <= usual->mbps.total())
                usual = nullptr;
        }
        return usual == nullptr || usual->empty() ? nullptr : usual;
    }

    std::vector<Usual> of_host, of_leaf; // compute
    std::vector<Usual> of_any;           // all hosts of a leaf
    std::vector<Usual> of_uplinks;
    std::map<Kind, Usual> of_kind; // storage
};

// A cable from a leaf to a core: it is reported by uplinks(), and is not comparable with the leaf's others.
bool past_a_tier(const Fabric& fabric, const Link& link) {
    if (link.a.switch_ == none || link.b.switch_ == none) return false;
    const int a = fabric.switches[at(link.a.switch_)].tier, b = fabric.switches[at(link.b.switch_)].tier;
    return a != none && b != none && std::abs(a - b) > 1;
}

bool among(const std::vector<std::size_t>& links, const Fabric& fabric, const Link& link) {
    return std::binary_search(links.begin(), links.end(),
                              static_cast<std::size_t>(&link - fabric.links.data()));
}

// Switches all of whose links to switches, and nearly all to hosts, are slower than usual between those tiers
// of their network, while their siblings' links are not: the fault is the switch, not its cables. Reports
// them and marks their links. `strays`: links that should not exist.
std::vector<char> report_switches(const Fabric& fabric, const std::vector<std::size_t>& strays,
                                  Findings& findings) {
    const auto roles = roles_of(fabric);
    const auto of_storage = [&](int s) { return roles[at(s)] == Role::storage; };
    const auto stray = [&](const Link& link) { return among(strays, fabric, link); };
    std::map<std::tuple<int, int, bool>, Usual> usual; // by tiers, hosts as -2; storage
    const auto kind = [&](const Link& link) {
        const auto tier = [&](const End& end) {
            return end.switch_ == none ? -2 : fabric.switches[at(end.switch_)].tier;
        };
        const auto storage = [&](const End& end) { return end.switch_ != none && of_storage(end.switch_); };
        const int a = tier(link.a), b = tier(link.b);
        return std::tuple(std::min(a, b), std::max(a, b), storage(link.a) || storage(link.b));
    };
    for (const Link& link : fabric.links)
        if (!stray(link)) usual[kind(link)].add(link);
    struct Count {
        std::size_t hosts = 0, slow_hosts = 0, switches = 0, slow_switches = 0, narrow = 0;
        Mode<std::uint32_t> mbps;
        std::uint8_t width = 0;
        bool whole() const {
            return switches + hosts >= 4 && switches > 0 && slow_switches == switches &&
                   slow_hosts * 8 >= hosts * 7;
        }
    };
    std::vector<Count> counts(fabric.switches.size());
    for (const Link& link : fabric.links) {
        if (link.mbps == 0 || link.state == LinkState::down || stray(link)) continue;
        const Usual& of = usual.at(kind(link));
        const bool slow = link.mbps < of.mbps.value(), narrow = link.width < of.width.value();
        const bool host = link.a.host != none || link.b.host != none;
        for (const End* end : {&link.a, &link.b}) {
            if (end->switch_ == none) continue;
            Count& count = counts[at(end->switch_)];
            ++(host ? count.hosts : count.switches);
            if (!slow) continue;
            ++(host ? count.slow_hosts : count.slow_switches);
            count.narrow += narrow ? 1 : 0;
            count.mbps.add(link.mbps);
            count.width = link.width;
        }
    }
    std::map<std::pair<int, bool>, std::pair<std::size_t, std::size_t>> of_tier; // slow, all
    for (int s = 0; at(s) < counts.size(); ++s) {
        auto& [whole, all] = of_tier[{fabric.switches[at(s)].tier, of_storage(s)}];
        whole += counts[at(s)].whole() ? 1 : 0;
        ++all;
    }
    std::vector<char> blamed(fabric.switches.size(), 0);
    for (int s = 0; at(s) < counts.size(); ++s) {
        const Count& count = counts[at(s)];
        const auto& [whole, all] = of_tier.at({fabric.switches[at(s)].tier, of_storage(s)});
        if (!count.whole() || whole * 4 > std::max<std::size_t>(all, 4)) continue;
        blamed[at(s)] = 1;
        const bool narrow = count.narrow * 2 > count.mbps.total();
        const auto name = switch_name(fabric, s);
        findings.push_back(
            {narrow ? "switch.narrow" : "switch.slow",
             Severity::warning,
             {name},
             fmt::format("all links of {} run at {} or so, those of its siblings faster", name,
                         format_rate({count.width, count.mbps.value()})),
             "look at the switch itself: its port profile and speed settings, then its firmware"});
    }
    return blamed;
}

void report_rate(const Fabric& fabric, const Link& link, const Usual& usual, Findings& findings) {
    if (link.mbps == 0 || link.mbps >= usual.mbps.value()) return;
    const bool narrow = link.width < usual.width.value();
    const auto ends = std::vector{end_name(fabric, link.a), end_name(fabric, link.b)};
    findings.push_back({narrow ? "link.narrow" : "link.slow", Severity::warning, ends,
                        fmt::format("the link {} – {} runs at {}, its siblings at {}", ends[0], ends[1],
                                    format_rate({link.width, link.mbps}),
                                    format_rate({usual.width.value(), usual.mbps.value()})),
                        narrow ? "lanes are lost: reseat or replace the cable"
                               : "look at cable and transceivers, then at the port's speed setting"});
}

// A host all of whose links are slower than those of most hosts in its unit.
void report_slow_hosts(const Fabric& fabric, const Siblings& siblings, Findings& findings) {
    for (const Unit& unit : fabric.units) {
        Mode<std::uint32_t> usual;
        for (const auto h : unit.hosts)
            if (!siblings.of_host[h].empty()) usual.add(siblings.of_host[h].mbps.value());
        for (const auto h : unit.hosts) {
            const Usual& own = siblings.of_host[h];
            if (own.empty() || own.mbps.total() < own_measure || own.mbps.value() >= usual.value()) continue;
            findings.push_back(
                {"host.slow",
                 Severity::warning,
                 {fabric.hosts[h].name},
                 fmt::format("most links of {} run at {} Gbit/s, those of other hosts of {} at {}",
                             fabric.hosts[h].name, own.mbps.value() / 1000, unit.name, usual.value() / 1000),
                 "look at its HCAs' speed setting or model"});
        }
    }
}

} // namespace

void links(const Fabric& fabric, Findings& findings) {
    const auto strays = stray_links(fabric);
    const auto blamed = report_switches(fabric, strays, findings);
    const Siblings siblings(fabric, blamed);
    const auto explained = [&](const End& end) {
        return end.switch_ != none && blamed[at(end.switch_)] != 0;
    };
    const bool managed = std::any_of(fabric.links.begin(), fabric.links.end(),
                                     [](const Link& link) { return link.state == LinkState::active; });
    for (const Link& link : fabric.links) {
        const auto say = [&](std::string_view code, Severity severity, std::string_view what,
                             std::string_view fix) {
            const auto ends = std::vector{end_name(fabric, link.a), end_name(fabric, link.b)};
            findings.push_back({std::string(code), severity, ends,
                                fmt::format("the link {} – {} is {}", ends[0], ends[1], what),
                                std::string(fix)});
        };
        if (link.state == LinkState::down) {
            say("link.down", Severity::error, "down", "look at the cable and both ports");
            continue;
        }
        if (managed && (link.state == LinkState::init || link.state == LinkState::armed)) {
            say("link.not_active", Severity::warning, "up but not active",
                "look at what the subnet manager says of it");
            continue;
        }
        if (explained(link.a) || explained(link.b)) continue;
        if (among(strays, fabric, link) || past_a_tier(fabric, link)) continue; // it should not exist
        if (const Usual* usual = siblings.of(fabric, link)) report_rate(fabric, link, *usual, findings);
    }
    report_slow_hosts(fabric, siblings, findings);
}

} // namespace topo::checks
