#include "restart/watch/port_signals.hpp"

#include "restart/watch/window.hpp"
#include "topo/guid.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart {
namespace {

std::string component_of(const PortSample& port) {
    return fmt::format("{}:{}", port.device, port.port);
}

std::string states_of(const PortSample& port) {
    return fmt::format("{}, physical state {}", port.state, port.phys_state);
}

constexpr std::string_view link_downed = "link_downed";

bool is_active(const PortSample& port) {
    return port.state == "ACTIVE";
}

bool is(const ListedPort& listed, const PortSample& port) {
    return (port.node != 0 && listed.node == port.node && listed.port == port.port) ||
           // A source that has only ports puts the port's GUID in both places.
           (port.guid != 0 && (listed.guid == port.guid || listed.node == port.guid));
}

const ListedPort* find_listed(const Listing& listing, const PortSample& port) {
    const auto found = std::find_if(listing.ports.begin(), listing.ports.end(),
                                    [&](const ListedPort& listed) { return is(listed, port); });
    return found == listing.ports.end() ? nullptr : &*found;
}

// ACTIVE ports that the file does not list.
std::vector<const PortSample*> unlisted_in(const IbSample& ib, const Listing& listing) {
    std::vector<const PortSample*> unlisted;
    for (const auto& port : ib.ports)
        if (is_active(port) && find_listed(listing, port) == nullptr) unlisted.push_back(&port);
    return unlisted;
}

// All listed ports are replaced by others that work: the HCAs were exchanged, or the file describes another
// host.
bool all_other(const std::vector<const ListedPort*>& missing, const std::vector<const PortSample*>& unlisted,
               const Listing& listing) {
    return missing.size() == listing.ports.size() && unlisted.size() >= missing.size();
}

} // namespace

void PortSignals::set_counters(const std::vector<std::string>& counters) {
    counters_.clear();
    for (const auto& counter : counters)
        counters_[counter] = fmt::format("{}{}", counter_prefix, counter);
}

void PortSignals::read_port(const PortSample& port, const Port& name, bool used, std::vector<Signal>& into) {
    if (is_active(port)) {
        auto& seen = seen_[name];
        seen.rate = std::max(seen.rate, port.rate_gbps);
        seen.last = port;
        seen.active_since_there = true;
    }
    // A port that was never active and is not listed is an unused port (read_came_up).
    const auto known = seen_.find(name);
    if (known == seen_.end()) return;
    known->second.there = true;
    const auto component = component_of(port);
    if (!used) {
        into.push_back({"ib.unlisted", component, is_active(port) ? 1.0 : 0.0, 0, states_of(port)});
        return;
    }
    into.push_back({"ib.present", component, 1, 0, {}});
    into.push_back({"ib.active", component, is_active(port) ? 1.0 : 0.0, 0, states_of(port)});
    if (is_active(port)) into.push_back({"ib.rate", component, port.rate_gbps, known->second.rate, {}});
    if (!known->second.active_since_there) return;
    for (const auto& [counter, signal] : counters_) {
        const auto found = port.counters.find(counter);
        if (found == port.counters.end()) continue;
        auto value = found->second;
        if (counter == link_downed)
            value = known->second.downed.take(value, is_active(port));
        else if (!is_active(port))
            continue;
        into.push_back({signal, component, static_cast<double>(value), 0, {}});
    }
}

std::uint64_t PortSignals::Downed::take(std::uint64_t value, bool active) {
    if (!Growth::is_count(value)) return value;
    if (known && value > last && !(active && was_active)) {
        const auto grown = value - last;
        hidden += counted ? grown : grown - 1;
        counted = true;
    }
    if (active) counted = false;
    known = true;
    was_active = active;
    last = value;
    return value >= hidden ? value - hidden : value; // reset in the meantime
}

void PortSignals::read(const IbSample& ib, const Listing& listing, std::vector<Signal>& into) {
    std::map<std::pair<Guid, std::uint32_t>, int> ports_by_guid;
    for (const auto& port : ib.ports)
        ++ports_by_guid[{port.node, port.port}];
    names_.clear();
    for (const auto& port : ib.ports)
        if (const auto* listed = find_listed(listing, port);
            listed != nullptr && listed->component != component_of(port) && names_.size() < most_port_names)
            names_.push_back({component_of(port), listed->component});
    const auto missing = missing_in(ib, listing);
    const auto is_used = [&](const PortSample& port) {
        if (find_listed(listing, port) != nullptr) return true;
        if (port.virtual_function) return false;
        if (listing.ports.empty() || !listing.why_not.empty() || (port.node == 0 && port.guid == 0))
            return true;
        // Nothing in the list is present, as in another host's file; or this port replaces a listed one.
        return missing.size() == listing.ports.size() ||
               std::any_of(missing.begin(), missing.end(),
                           [&](const ListedPort* listed) { return listed->component == component_of(port); });
    };
    for (auto& [name, seen] : seen_)
        seen.there = false;
    for (const auto& port : ib.ports) {
        const bool unique = port.node != 0 && ports_by_guid[{port.node, port.port}] == 1;
        read_port(port, {unique ? port.node : 0, unique ? std::string() : port.device, port.port},
                  is_used(port), into);
    }
    for (std::size_t i = 0; i < ib.ports.size(); ++i)
        if ((i == 0 || ib.ports[i].device != ib.ports[i - 1].device) && is_used(ib.ports[i]))
            read_hca(ib.ports[i], into);
    // A virtual function comes and goes with the container that owns it.
    std::erase_if(seen_, [&](const auto& seen) {
        return !seen.second.there && seen.second.last.virtual_function && !is_used(seen.second.last);
    });
    for (auto& [name, seen] : seen_) {
        if (seen.there) continue;
        seen.active_since_there = false;
        const auto component = component_of(seen.last);
        if (is_used(seen.last))
            into.push_back({"ib.present", component, 0, 0, {}});
        else
            into.push_back({"ib.unlisted", component, 0, 0, "GONE"});
    }
    read_came_up(ib, listing, into);
    read_listed(ib, listing, missing, into);
}

void PortSignals::read_hca(const PortSample& port, std::vector<Signal>& into) {
    const auto add = [&](std::string_view name, const auto& value, const auto& most) {
        if (value && most)
            into.push_back({name, port.device, static_cast<double>(*value), static_cast<double>(*most), {}});
    };
    add("ib.pcie_width", port.pcie_width, port.pcie_width_max);
    add("ib.pcie_speed", port.pcie_speed, port.pcie_speed_max);
    add("ib.asic_temperature", port.asic_celsius, port.asic_critical);
    add("ib.module_temperature", port.module_celsius, port.module_critical);
}

void PortSignals::read_came_up(const IbSample& ib, const Listing& listing, std::vector<Signal>& into) const {
    for (const auto& port : ib.ports) {
        const auto* listed = find_listed(listing, port);
        if (listed == nullptr || !listed->linked) continue;
        const bool was_up = std::any_of(seen_.begin(), seen_.end(),
                                        [&](const auto& seen) { return is(*listed, seen.second.last); });
        into.push_back(
            {"ib.came_up", component_of(port), is_active(port) || was_up ? 1.0 : 0.0, 0, states_of(port)});
    }
}

PortSignals::Missing PortSignals::missing_in(const IbSample& ib, const Listing& listing) const {
    // A host without GUIDs cannot be compared with the file.
    if (std::any_of(ib.ports.begin(), ib.ports.end(),
                    [](const auto& port) { return port.node == 0 && port.guid == 0; }))
        return {};
    const auto is_ignored = [&](Guid guid) {
        return guid != 0 && std::find(ib.ignored.begin(), ib.ignored.end(), guid) != ib.ignored.end();
    };
    Missing missing;
    for (const auto& listed : listing.ports) {
        const auto is_listed = [&](const PortSample& port) { return is(listed, port); };
        if (std::none_of(ib.ports.begin(), ib.ports.end(), is_listed) &&
            std::none_of(seen_.begin(), seen_.end(),
                         [&](const auto& seen) { return is_listed(seen.second.last); }) &&
            !is_ignored(listed.node) && !is_ignored(listed.guid))
            missing.push_back(&listed);
    }
    return missing;
}

void PortSignals::read_listed(const IbSample& ib, const Listing& listing, const Missing& missing,
                              std::vector<Signal>& into) {
    const auto unlisted = unlisted_in(ib, listing);
    const bool all_are_other = all_other(missing, unlisted, listing);
    for (const auto* listed : missing) {
        const auto other = std::find_if(unlisted.begin(), unlisted.end(), [&](const PortSample* port) {
            return component_of(*port) == listed->component;
        });
        const bool replaced = all_are_other || other != unlisted.end();
        const auto* port = other != unlisted.end() ? *other : unlisted.empty() ? nullptr : unlisted.front();
        auto guid = topo::format_guid(listed->node);
        into.push_back({"ib.listed", listed->component, replaced ? 1.0 : 0.0, 0, guid});
        if (port != nullptr)
            guid +=
                fmt::format(", the host has {} at {}", topo::format_guid(port->node), component_of(*port));
        into.push_back({"ib.replaced", listed->component, replaced ? 1.0 : 0.0, 0, std::move(guid)});
    }
}

} // namespace restart
