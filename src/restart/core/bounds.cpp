#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace restart {
namespace {

// A drain that an operator asked for is a person's decision and counts for none of the bounds.
bool drained_by_incident(const HostState& host) {
    return ours(host) && host.node->drain && !owner_of(host.node->reason).starts_with("user:");
}

// A drain given and not yet seen in a snapshot.
bool drain_under_way(const State& state, std::string_view host) {
    for (const auto& [number, incident] : state.incidents) {
        if (incident.host != host || incident.kind == IncidentKind::operator_wish) continue;
        for (const auto& intent : incident.intents) {
            const auto& action = intent.action;
            const bool drains = action.kind == ActionKind::drain_host ||
                                (action.kind == ActionKind::down_host && action.drain);
            if (drains && intent.in_flight()) return true;
        }
    }
    return false;
}

template <class Which> std::size_t count_drained(const State& state, Which which) {
    return static_cast<std::size_t>(
        std::count_if(state.hosts.begin(), state.hosts.end(), [&](const auto& entry) {
            const auto& [name, host] = entry;
            return which(host) && (drained_by_incident(host) || drain_under_way(state, name));
        }));
}

} // namespace

std::size_t drained_by_us(const State& state) {
    return count_drained(state, [](const HostState&) { return true; });
}

std::optional<Bound> drain_bound(const Turn& turn, const HostState& host) {
    const auto& policy = turn.policy;
    const auto total =
        static_cast<double>(std::count_if(turn.state.hosts.begin(), turn.state.hosts.end(),
                                          [](const auto& entry) { return entry.second.node.has_value(); }));
    const auto drained = drained_by_us(turn.state);
    if (static_cast<double>(drained + 1) > std::ceil(policy.max_drained_percent * total / 100.0))
        return Bound{"max_drained_percent",
                     fmt::format("{} of {} hosts are drained already (max_drained_percent = {})", drained,
                                 total, policy.max_drained_percent)};
    if (policy.max_drained_absolute != 0 && drained + 1 > policy.max_drained_absolute)
        return Bound{"max_drained_absolute",
                     fmt::format("{} hosts are drained already (max_drained_absolute = {})", drained,
                                 policy.max_drained_absolute)};
    if (policy.max_drained_per_unit == 0 || host.unit.empty()) return {};
    const auto in_unit =
        count_drained(turn.state, [&](const HostState& other) { return other.unit == host.unit; });
    if (in_unit + 1 > policy.max_drained_per_unit)
        return Bound{"max_drained_per_unit",
                     fmt::format("{} hosts of {} are drained already (max_drained_per_unit = {})", in_unit,
                                 host.unit, policy.max_drained_per_unit)};
    return {};
}

} // namespace restart
