#include "restart/core/facts/bounds.hpp"

#include "base/units.hpp"
#include "restart/core/facts/host_use.hpp"
#include "restart/core/facts/step_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string_view>
#include <vector>

namespace restart {
namespace {

// A drain requested by an operator does not count for the bounds.
bool drained_by_incident(const HostState& host) {
    return owned_by_us(host) && host.node->drain && !owner_of(host.node->reason).starts_with("user:");
}

// Hosts whose drain has begun and is not yet seen in a snapshot; sorted.
std::vector<std::string_view> drains_under_way(const State& state) {
    std::vector<std::string_view> hosts;
    for (const auto& [number, incident] : state.incidents) {
        if (incident.kind == IncidentKind::operator_request) continue;
        for (const auto& intent : incident.intents)
            if (drains(intent.action) && intent.in_flight() && host_of(intent.action) == incident.host)
                hosts.push_back(incident.host);
    }
    std::sort(hosts.begin(), hosts.end());
    return hosts;
}

// Hosts that faults keep out of use, in total and near one host.
struct Tally {
    std::size_t known = 0, all = 0, unit = 0, pod = 0, hour = 0;
    std::map<std::string_view, std::size_t> leaves; // of that host
};

constexpr base::Duration hour{3'600'000};

Tally count_drained(const State& state, base::Time now, const HostState& beside) {
    Tally tally;
    for (const auto& leaf : beside.leaves)
        tally.leaves[leaf] = 0;
    const auto under_way = drains_under_way(state);
    for (const auto& [name, host] : state.hosts) {
        if (host.node) ++tally.known;
        if (&host != &beside && host.drain_begun && now - *host.drain_begun < hour) ++tally.hour;
        if (!drained_by_incident(host) &&
            !std::binary_search(under_way.begin(), under_way.end(), std::string_view(name)))
            continue;
        ++tally.all;
        if (host.unit == beside.unit) ++tally.unit;
        if (host.pod == beside.pod) ++tally.pod;
        for (const auto& leaf : host.leaves)
            if (const auto counted = tally.leaves.find(leaf); counted != tally.leaves.end())
                ++counted->second;
    }
    return tally;
}

// Confirmed as lost by the resource manager alone, within lost_window, and not overruled by an operator
// since.
bool counts_as_loss(const HostState& host, const Policy& policy, base::Time now) {
    return lost_by_rm_alone(host) && now - host.lost_at < policy.lost_window;
}

constexpr std::size_t fewest_losses = 3; // this many may be lost in a small cluster, too

// Keeps hosts that come and go from beginning and ending it again and again.
constexpr base::Duration calm{600'000};

// A bound on all hosts that was found crossed at this very moment. Within a step it can only be crossed
// further, so it need not be counted again for each of thousands of hosts.
std::optional<Shut> found_now(const State& state, base::Time now, std::initializer_list<const char*> keys) {
    for (const auto* key : keys)
        if (const auto crossing = state.crossings.find(key);
            crossing != state.crossings.end() && crossing->second.last == now)
            return Shut{key, crossing->second.why, {}};
    return {};
}

} // namespace

double share_of_hosts(double percent, std::size_t hosts) {
    return std::ceil(percent * static_cast<double>(hosts) / 100.0);
}

std::size_t drains_left(const State& state, const Policy& policy) {
    const auto tally = count_drained(state, {}, HostState());
    auto most = static_cast<std::size_t>(share_of_hosts(policy.max_drained_percent, tally.known));
    if (policy.max_drained_absolute != 0) most = std::min(most, policy.max_drained_absolute);
    return most - std::min(most, tally.all);
}

std::size_t drained_by_us(const State& state) {
    return count_drained(state, {}, HostState()).all;
}

std::optional<Shut> bound_on_drain(const State& state, const Policy& policy, base::Time now,
                                   const HostState& host) {
    if (auto shut = found_now(state, now, {"max_drained_percent", "max_drained_absolute"})) return shut;
    const auto tally = count_drained(state, now, host);
    const auto all = tally.all;
    if (static_cast<double>(all + 1) > share_of_hosts(policy.max_drained_percent, tally.known))
        return Shut{"max_drained_percent",
                    fmt::format("{} of {} hosts are drained already (max_drained_percent = {})", all,
                                tally.known, policy.max_drained_percent),
                    {}};
    if (policy.max_drained_absolute != 0 && all >= policy.max_drained_absolute)
        return Shut{"max_drained_absolute",
                    fmt::format("{} hosts are drained already (max_drained_absolute = {})", all,
                                policy.max_drained_absolute),
                    {}};
    const auto part = [](std::string_view key, std::size_t drained, std::uint64_t most,
                         std::string_view of) -> std::optional<Shut> {
        if (most == 0 || of.empty() || drained < most) return {};
        return Shut{std::string(key),
                    fmt::format("{} hosts of {} are drained already ({} = {})", drained, of, key, most),
                    std::string(of)};
    };
    if (auto shut = part("max_drained_per_unit", tally.unit, policy.max_drained_per_unit, host.unit))
        return shut;
    for (const auto& [leaf, drained] : tally.leaves)
        if (auto shut = part("max_drained_per_leaf", drained, policy.max_drained_per_leaf, leaf)) return shut;
    if (auto shut = part("max_drained_per_pod", tally.pod, policy.max_drained_per_pod, host.pod)) return shut;
    if (policy.max_drained_per_hour != 0 && tally.hour >= policy.max_drained_per_hour)
        return Shut{"max_drained_per_hour",
                    fmt::format("{} hosts were drained within the last hour (max_drained_per_hour = {})",
                                tally.hour, policy.max_drained_per_hour),
                    {}};
    return {};
}

std::optional<Shut> bound_on_down(const State& state, const Policy& policy, base::Time now,
                                  const HostState& host) {
    if (auto shut = found_now(state, now, {"max_lost_percent"})) return shut;
    std::size_t known = 0, all = 0, in_unit = 0;
    for (const auto& [name, other] : state.hosts) {
        if (other.node) ++known;
        if (&other == &host || !counts_as_loss(other, policy, now)) continue;
        ++all;
        if (other.unit == host.unit) ++in_unit;
    }
    const auto window = base::human_duration(policy.lost_window);
    const auto most =
        std::max(static_cast<double>(fewest_losses), share_of_hosts(policy.max_lost_percent, known));
    if (static_cast<double>(all + 1) > most)
        return Shut{"max_lost_percent",
                    fmt::format("{} of {} hosts were lost within {} by the resource manager's word alone "
                                "(max_lost_percent = {})",
                                all, known, window, policy.max_lost_percent),
                    {}};
    if (policy.max_lost_per_unit != 0 && !host.unit.empty() && in_unit >= policy.max_lost_per_unit)
        return Shut{"max_lost_per_unit",
                    fmt::format("{} hosts of {} were lost within {} by the resource manager's word alone "
                                "(max_lost_per_unit = {})",
                                in_unit, host.unit, window, policy.max_lost_per_unit),
                    host.unit};
    return {};
}

void note_crossing(StepContext& ctx, const Shut& bound, std::string_view what) {
    constexpr std::size_t longest_key = 64; // of a map in the journal
    const auto key =
        bound.of.empty() ? bound.key : fmt::format("{} {}", bound.key, bound.of).substr(0, longest_key);
    const auto [crossing, first] =
        ctx.state.crossings.try_emplace(key, Crossing{bound.why, ctx.now, ctx.now});
    crossing->second.last = ctx.now;
    crossing->second.why = bound.why;
    if (first) ctx.alert(fmt::format("{}: {}; recoveries and returning hosts go on", what, bound.why));
}

void end_crossings(StepContext& ctx) {
    std::erase_if(ctx.state.crossings, [&](const auto& entry) {
        if (ctx.now - entry.second.last < calm) return false;
        ctx.note_host(NoteKind::outcome, {}, fmt::format("{} keeps nothing back any more", entry.first));
        ctx.changed();
        return true;
    });
}

} // namespace restart
