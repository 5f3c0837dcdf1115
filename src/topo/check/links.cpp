// Each link against its siblings: state, width, speed.
#include "topo/check/parts.hpp"

#include "topo/rate.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

// The usual widths and speeds around one thing: a host's compute links, a leaf's hosts, a switch's uplinks.
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

// The lower of a link's ends in the tree: a host, else the switch of the lower tier, else the first.
const End& lower_end(const Fabric& fabric, const Link& link) {
    if (link.a.host != none || link.b.host != none) return link.a.host != none ? link.a : link.b;
    return fabric.switches[at(link.b.switch_)].tier < fabric.switches[at(link.a.switch_)].tier ? link.b
                                                                                               : link.a;
}

// A host of at least three compute links is its own measure; smaller ones are measured by their leaf.
constexpr std::size_t own_measure = 3;

struct Siblings {
    explicit Siblings(const Fabric& fabric)
        : of_host(fabric.hosts.size()), of_leaf(fabric.switches.size()), of_uplinks(fabric.switches.size()) {
        for (const Link& link : fabric.links) {
            const End& lower = lower_end(fabric, link);
            const End& upper = other_end(link, lower);
            if (lower.host == none) {
                of_uplinks[at(lower.switch_)].add(link);
            } else if (is_compute(fabric, lower)) {
                of_host[at(lower.host)].add(link);
                if (upper.switch_ != none) of_leaf[at(upper.switch_)].add(link);
            }
        }
    }
    // None when there is nothing to compare with.
    const Usual* of(const Fabric& fabric, const Link& link) const {
        const End& lower = lower_end(fabric, link);
        const Usual* usual = nullptr;
        if (lower.host == none) {
            usual = &of_uplinks[at(lower.switch_)];
        } else if (is_compute(fabric, lower)) {
            const End& upper = other_end(link, lower);
            usual = &of_host[at(lower.host)];
            if (usual->empty() || usual->mbps.total() < own_measure)
                usual = upper.switch_ == none ? nullptr : &of_leaf[at(upper.switch_)];
        }
        return usual == nullptr || usual->empty() ? nullptr : usual;
    }

    std::vector<Usual> of_host, of_leaf, of_uplinks;
};

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

// A host all of whose links are slower than those of most hosts of its unit.
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
    const Siblings siblings(fabric);
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
        if (const Usual* usual = siblings.of(fabric, link)) report_rate(fabric, link, *usual, findings);
    }
    report_slow_hosts(fabric, siblings, findings);
}

} // namespace topo::checks
