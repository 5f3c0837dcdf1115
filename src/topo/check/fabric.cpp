// The fabric as a whole: parts that cannot reach each other, oversubscription.
#include "topo/check/parts.hpp"

#include "topo/sets.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

// Unconnected parts; a host connects its rails, as rail-only networks need no spine.
void report_disconnected(const Fabric& fabric, Findings& findings) {
    const auto first_switch = static_cast<int>(fabric.hosts.size());
    const auto node = [&](const End& end) {
        return end.host != none ? end.host : first_switch + end.switch_;
    };
    Sets joined(fabric.hosts.size() + fabric.switches.size());
    for (const Link& link : fabric.links)
        if (link.state != LinkState::down) joined.join(node(link.a), node(link.b));
    std::map<int, std::vector<std::uint32_t>> parts;
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h)
        if (fabric.hosts[h].unit != none) parts[joined.find(static_cast<int>(h))].push_back(h);
    if (parts.size() < 2) return;
    Finding finding{"fabric.parts", Severity::error, {}, {}, "look at the cables above them"};
    for (const auto& [first, members] : parts) // the representative of a part is its first host
        finding.ends.push_back(host_names(fabric, members));
    finding.evidence = fmt::format("the fabric is in {} parts that no link joins: {}", parts.size(),
                                   fmt::join(finding.ends, " | "));
    findings.push_back(std::move(finding));
}

// A scan that got no further than the HCA that started it.
void report_no_link(const Fabric& fabric, Findings& findings) {
    if (!fabric.links.empty() || (fabric.hosts.empty() && fabric.switches.empty())) return;
    findings.push_back(
        {"fabric.empty",
         Severity::error,
         {},
         fmt::format("no link is known, of {} and {}", counted(fabric.hosts.size(), "host", "hosts"),
                     counted(fabric.switches.size(), "switch", "switches")),
         "look at the port of the HCA that was asked through (ibstat), then discover again"});
}

// Rails without a common network: messages between them go through a host. Rail-only networks are built like
// this, but planners must know about it.
void report_apart(const Fabric& fabric, Findings& findings) {
    if (fabric.tiers < 2) return;
    Sets met(at(fabric.rails));
    for (const Island& island : fabric.islands)
        for (const int rail : island.rails)
            met.join(island.rails.front(), rail);
    std::map<int, std::vector<int>> groups;
    for (int r = 0; r < fabric.rails; ++r)
        groups[met.find(r)].push_back(r);
    if (groups.size() < 2) return;
    Finding finding{
        "rails.apart",
        Severity::info,
        {},
        {},
        "between them messages must change rails inside a host (NCCL: PXN, NCCL_CROSS_NIC=0), unless "
        "links are added"};
    for (const auto& [first, rails] : groups)
        finding.ends.push_back(
            fmt::format("{} {}", rails.size() == 1 ? "rail" : "rails", fmt::join(rails, ", ")));
    finding.evidence = fmt::format("the rails are in {} networks that no link joins: {}", groups.size(),
                                   fmt::join(finding.ends, " | "));
    findings.push_back(std::move(finding));
}

// Bandwidth below and above a switch, or a tier of them, in 10^6 bit/s.
struct Load {
    std::uint64_t below = 0, above = 0;

    void add(const Load& other) {
        below += other.below;
        above += other.above;
    }
    std::uint64_t percent() const { return below * 100 / above; }
};

std::vector<Load> switch_loads(const Fabric& fabric) {
    std::vector<Load> loads(fabric.switches.size());
    for (const Link& link : fabric.links)
        for (const End* here : {&link.a, &link.b}) {
            if (here->switch_ == none) continue;
            const End& there = other_end(link, *here);
            const bool up = there.switch_ != none &&
                            fabric.switches[at(there.switch_)].tier > fabric.switches[at(here->switch_)].tier;
            Load& load = loads[at(here->switch_)];
            (up ? load.above : load.below) += link.mbps;
        }
    return loads;
}

std::string tier_name(int tier) {
    constexpr std::string_view names[] = {"leaves", "spines"};
    return tier < 2 ? std::string(names[tier]) : fmt::format("switches of tier {}", tier);
}

// The usual ratio of bandwidth below to bandwidth above, per tier; a single odd switch is reported by
// uplinks().
void report_oversubscribed(const Fabric& fabric, Findings& findings) {
    constexpr std::uint64_t even = 105, steep = 400; // percent
    const auto loads = switch_loads(fabric);
    for (int tier = 0; tier + 1 < fabric.tiers; ++tier) {
        Mode<std::uint64_t> percent;
        Load all;
        for (std::size_t s = 0; s < loads.size(); ++s)
            if (fabric.switches[s].tier == tier && fabric.switches[s].pod != none && loads[s].above > 0) {
                percent.add(loads[s].percent());
                all.add(loads[s]);
            }
        if (percent.empty() || percent.value() <= even) continue;
        const auto gbps = [](std::uint64_t mbps) { return mbps / 1000; };
        findings.push_back(
            {"tier.oversubscribed",
             percent.value() > steep ? Severity::warning : Severity::info,
             {tier_name(tier)},
             fmt::format("most {} have {}.{:02} times as much bandwidth below as above ({} of {}); all {} "
                         "together {} Gbit/s below and {} above",
                         tier_name(tier), percent.value() / 100, percent.value() % 100, percent.count(),
                         percent.total(), percent.total(), gbps(all.below), gbps(all.above)),
             fmt::format("keep jobs within a {}, or add uplinks", tier == 0 ? "unit" : "pod")});
    }
}

} // namespace

void parts(const Fabric& fabric, Findings& findings) {
    report_no_link(fabric, findings);
    report_disconnected(fabric, findings);
    report_apart(fabric, findings);
    report_oversubscribed(fabric, findings);
}

} // namespace topo::checks
