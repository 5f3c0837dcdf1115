// Switches that were added, removed, replaced or renamed.
#include "topo/diff/report.hpp"

#include "topo/guid.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo::drift {
namespace {

// What is plugged into each switch.
struct Plugged {
    std::size_t cables = 0;
    int highest = 0; // port
};

std::vector<Plugged> plugged_into(const Fabric& fabric) {
    std::vector<Plugged> plugged(fabric.switches.size());
    for (const Link& link : fabric.links)
        for (const End* end : {&link.a, &link.b}) {
            if (end->switch_ == none) continue;
            auto& at_switch = plugged[at(end->switch_)];
            ++at_switch.cables;
            at_switch.highest = std::max(at_switch.highest, static_cast<int>(end->port));
        }
    return plugged;
}

void report_missing(const Report& report, const Fabric& fabric, const std::vector<int>& there,
                    const std::vector<int>& hosts_there, bool gone) {
    const auto folded = switches_of_whole_units(fabric, hosts_there, there);
    const auto plugged = plugged_into(fabric);
    for (int s = 0; at(s) < there.size(); ++s) {
        if (there[at(s)] != none || folded[at(s)] != 0) continue;
        const auto name = switch_name(fabric, s);
        report.add(gone ? "switch.removed" : "switch.added", {name},
                   fmt::format("{} is {}, with {}", name, gone ? "gone" : "new",
                               counted(plugged[at(s)].cables, "cable", "cables")));
    }
}

// Cables of each switch of `after` that end in another port of it than before.
std::vector<std::size_t> other_ports(const Report& report, const Cables& cables) {
    std::vector<std::size_t> count(report.after.switches.size(), 0);
    const auto add = [&](const Move& move) {
        if (move.to.switch_ != none && report.now(move.from).switch_ == move.to.switch_)
            ++count[at(move.to.switch_)];
    };
    for (const Move& move : cables.moves)
        add(move);
    for (const auto& ring : cables.rings)
        for (const Move& move : ring)
            add(move);
    return count;
}

} // namespace

void report_switches(const Report& report, const Cables& cables) {
    report_missing(report, report.before, report.match.switch_after, report.match.host_after, true);
    report_missing(report, report.after, report.match.switch_before, report.match.host_before, false);
    const auto moved_ports = other_ports(report, cables);
    const auto had = plugged_into(report.before), has = plugged_into(report.after);
    Renamed renamed;
    for (std::size_t s = 0; s < report.before.switches.size(); ++s) {
        if (report.match.switch_after[s] == none) continue;
        const Switch& old = report.before.switches[s];
        const Switch& now = report.after.switches[at(report.match.switch_after[s])];
        const auto called = switch_name(report.after, report.match.switch_after[s]);
        if (old.guid != now.guid) {
            const auto others = moved_ports[at(report.match.switch_after[s])];
            report.add("switch.replaced", {now.name},
                       fmt::format("{} was replaced: GUID {} instead of {}{}{}", now.name,
                                   format_guid(now.guid), format_guid(old.guid),
                                   old.name == now.name ? "" : fmt::format("; the old one was {}", old.name),
                                   others == 0 ? ""
                                               : fmt::format("; {} on other ports than before",
                                                             counted(others, "cable is", "cables are"))));
            continue;
        }
        if (old.name != now.name) renamed.emplace(old.name, now.name);
        // If a cable reveals a port that was not known before, this is not reported again.
        const int known = std::min(old.ports, now.ports);
        if (old.ports != now.ports && known > 0 && had[s].highest <= known &&
            has[at(report.match.switch_after[s])].highest <= known)
            report.add("switch.ports", {called},
                       fmt::format("{} has {} ports instead of {}", called, now.ports, old.ports));
    }
    report_renamed(report, "switch.renamed", renamed, "GUID");
}

} // namespace topo::drift
