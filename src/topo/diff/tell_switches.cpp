// Switches that came, went, were replaced or renamed.
#include "topo/diff/tell.hpp"

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

void tell_missing(const Story& story, const Fabric& fabric, const std::vector<int>& there,
                  const std::vector<int>& hosts_there, bool gone) {
    const auto folded = switches_of_whole_units(fabric, hosts_there, there);
    const auto plugged = plugged_into(fabric);
    for (int s = 0; at(s) < there.size(); ++s) {
        if (there[at(s)] != none || folded[at(s)] != 0) continue;
        const auto& name = fabric.switches[at(s)].name;
        story.tell(gone ? "switch.removed" : "switch.added", {name},
                   fmt::format("{} is {}, with {}", name, gone ? "gone" : "new",
                               counted(plugged[at(s)].cables, "cable", "cables")));
    }
}

// Cables of each switch of `after` that end in another port of it than before.
std::vector<std::size_t> other_ports(const Story& story, const Cables& cables) {
    std::vector<std::size_t> count(story.after.switches.size(), 0);
    const auto add = [&](const Move& move) {
        if (move.to.switch_ != none && story.now(move.from).switch_ == move.to.switch_)
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

void tell_switches(const Story& story, const Cables& cables) {
    tell_missing(story, story.before, story.match.switch_after, story.match.host_after, true);
    tell_missing(story, story.after, story.match.switch_before, story.match.host_before, false);
    const auto moved_ports = other_ports(story, cables);
    const auto had = plugged_into(story.before), has = plugged_into(story.after);
    Renamed renamed;
    for (std::size_t s = 0; s < story.before.switches.size(); ++s) {
        if (story.match.switch_after[s] == none) continue;
        const Switch& old = story.before.switches[s];
        const Switch& now = story.after.switches[at(story.match.switch_after[s])];
        if (old.guid != now.guid) {
            const auto others = moved_ports[at(story.match.switch_after[s])];
            story.tell("switch.replaced", {now.name},
                       fmt::format("{} was replaced: GUID {} instead of {}{}{}", now.name,
                                   format_guid(now.guid), format_guid(old.guid),
                                   old.name == now.name ? "" : fmt::format("; the old one was {}", old.name),
                                   others == 0 ? ""
                                               : fmt::format("; {} on other ports than before",
                                                             counted(others, "cable is", "cables are"))));
            continue;
        }
        if (old.name != now.name) renamed.emplace(old.name, now.name);
        // That a cable shows a port that was not known is not told again.
        const int known = std::min(old.ports, now.ports);
        if (old.ports != now.ports && known > 0 && had[s].highest <= known &&
            has[at(story.match.switch_after[s])].highest <= known)
            story.tell("switch.ports", {now.name},
                       fmt::format("{} has {} ports instead of {}", now.name, now.ports, old.ports));
    }
    tell_renamed(story, "switch.renamed", renamed, "GUID");
}

} // namespace topo::drift
