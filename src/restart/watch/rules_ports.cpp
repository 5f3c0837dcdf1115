// The rules about InfiniBand ports: what a port was before, and what the fabric file lists.
#include "restart/watch/rules.hpp"

#include "base/units.hpp"
#include "topo/guid.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart {
namespace {

using namespace std::chrono_literals;

std::string component_of(const PortSample& port) {
    return fmt::format("{}:{}", port.device, port.port);
}

bool is(const ListedPort& listed, const PortSample& port) {
    return (port.node != 0 && listed.node == port.node && listed.port == port.port) ||
           // A source that tells ports only puts the port's GUID in both places.
           (port.guid != 0 && (listed.guid == port.guid || listed.node == port.guid));
}

const ListedPort* find_listed(const Listing& listing, const PortSample& port) {
    const auto found = std::find_if(listing.ports.begin(), listing.ports.end(),
                                    [&](const ListedPort& listed) { return is(listed, port); });
    return found == listing.ports.end() ? nullptr : &*found;
}

} // namespace

void Judge::judge_counters(base::Time now, const PortSample& port, const std::string& component) {
    const auto rules = counter_rules();
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const auto& rule = rules[i];
        const auto counter = port.counters.find(std::string(rule.counter));
        if (counter == port.counters.end()) continue;
        auto& growth = growth_.try_emplace({i, component}, rule.period).first->second;
        const auto grown = growth.take(now, counter->second);
        // Two rows of one counter are two conditions; holding() keeps the worse one of a component.
        const Key key{fmt::format("ib.counter.{}#{}", rule.counter, i), component};
        look(now, key, grown > rule.more_than, rule.severity, 0s,
             fmt::format("{} grew by {} within {} (allowed: {})", rule.counter, grown,
                         base::human_duration(rule.period), rule.more_than));
    }
}

void Judge::judge_ports(base::Time now, const IbSample& ib) {
    std::map<std::pair<Guid, std::uint32_t>, int> tellers;
    for (const auto& port : ib.ports)
        ++tellers[{port.node, port.port}];
    std::set<Port> present;
    for (const auto& port : ib.ports) {
        const bool told = port.node != 0 && tellers[{port.node, port.port}] == 1;
        const Port name{told ? port.node : 0, told ? std::string() : port.device, port.port};
        present.insert(name);
        const auto component = component_of(port);
        const bool active = port.state == "ACTIVE";
        if (active) {
            auto& seen = seen_[name];
            seen.rate = std::max(seen.rate, port.rate_gbps);
            seen.last = port;
        }
        // A port that never was active and that nobody expects is a free port (judge_listed).
        const auto known = seen_.find(name);
        if (known != seen_.end()) {
            look(now, "ib.link_down", component, !active,
                 fmt::format("state {}, physical state {}", port.state, port.phys_state));
            look(now, "ib.rate", component, active && port.rate_gbps < known->second.rate,
                 fmt::format("{} Gb/s, was {} Gb/s", port.rate_gbps, known->second.rate));
        }
        judge_counters(now, port, component);
    }
    for (const auto& [name, seen] : seen_)
        if (!present.contains(name))
            look(now, "ib.vanished", component_of(seen.last), true, "the device has gone from the host");
}

void Judge::judge_listed(base::Time now, const IbSample& ib) {
    const auto has = [](const std::vector<Guid>& guids, Guid guid) {
        return guid != 0 && std::find(guids.begin(), guids.end(), guid) != guids.end();
    };
    bool settled = true;
    std::vector<const PortSample*> unlisted; // ACTIVE
    for (const auto& port : ib.ports) {
        const auto* listed = find_listed(listing_, port);
        const bool active = port.state == "ACTIVE";
        if (listed == nullptr && active) unlisted.push_back(&port);
        const bool was_up = std::any_of(seen_.begin(), seen_.end(), [&](const auto& seen) {
            return listed != nullptr && is(*listed, seen.second.last);
        });
        settled = look(now, "ib.never_up", component_of(port),
                       listed != nullptr && listed->linked && !active && !was_up,
                       fmt::format("the fabric file lists it, state {}, physical state {}", port.state,
                                   port.phys_state)) &&
                  settled;
    }
    std::vector<const ListedPort*> missing;
    for (const auto& listed : listing_.ports) {
        const auto is_listed = [&](const PortSample& port) { return is(listed, port); };
        if (std::none_of(ib.ports.begin(), ib.ports.end(), is_listed) &&
            std::none_of(seen_.begin(), seen_.end(),
                         [&](const auto& s) { return is_listed(s.second.last); }) &&
            !has(ib.ignored, listed.node) && !has(ib.ignored, listed.guid))
            missing.push_back(&listed);
    }
    // A host that tells no GUIDs cannot be held against the file.
    if (std::any_of(ib.ports.begin(), ib.ports.end(),
                    [](const auto& p) { return p.node == 0 && p.guid == 0; }))
        missing.clear();
    // In the place of a card, or of all, is another that works: exchanged, or the file has another host's.
    const bool all_other = missing.size() == listing_.ports.size() && unlisted.size() >= missing.size();
    for (const auto* listed : missing) {
        const auto other = std::find_if(unlisted.begin(), unlisted.end(), [&](const PortSample* port) {
            return component_of(*port) == listed->component;
        });
        const bool changed = all_other || other != unlisted.end();
        const auto* port = other != unlisted.end() ? *other : unlisted.empty() ? nullptr : unlisted.front();
        const auto guid = topo::format_guid(listed->node);
        settled =
            look(now, "ib.missing", listed->component, !changed,
                 fmt::format("the fabric file lists it with GUID {}, the host does not have it", guid)) &&
            settled;
        settled =
            look(now, "ib.changed", listed->component, changed,
                 port == nullptr ? std::string()
                                 : fmt::format("the fabric file lists GUID {}, the host has {} at {}: "
                                               "read the fabric again",
                                               guid, topo::format_guid(port->node), component_of(*port))) &&
            settled;
    }
    if (settled) fabric_ = listing_.digest;
    if (!settled && fabric_ != listing_.digest) fabric_.clear();
}

// What was not looked at is about a port of another name now, or one that the file no longer lists.
void Judge::forget_ports(base::Time now) {
    for (auto& [key, condition] : conditions_)
        if (key.first.starts_with("ib.") && condition.looked != now)
            look(now, key, false, condition.severity, condition.window, {});
}

} // namespace restart
