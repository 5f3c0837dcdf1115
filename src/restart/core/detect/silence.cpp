#include "restart/core/detect/silence.hpp"

#include "base/hostlist.hpp"
#include "restart/core/facts/bounds.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

// The resource manager declares a host down minutes after the silence began, and hosts may lose the network
// one by one: for this long, hosts whose loss only it confirmed count as silent, unless an administrator took
// them out of use.
constexpr base::Duration memory = std::chrono::hours(24);

// Whether its agent should report: not on a host that is off, rebooted as planned, shut down in order or in
// maintenance, nor on one that is out of use, unless only the resource manager decided so, which just repeats
// the silence.
bool ought_to_report(const StepContext& ctx, const std::string& name, const HostState& host) {
    if (!host.last_report || in_maintenance(ctx.state, name, host) || has_departed(host)) return false;
    if (unconfirmed_loss(ctx, host)) return true;
    if (host.lost) return false;
    if (!host.node) return true;
    return !host.node->away && !host.node->drain && (!host.node->down || host.node->automatic);
}

// Its agent's last report, and how long ago that was. A job that commits shows that its hosts are alive but
// cannot be heard: the hosts without such a job are behind the same network.
base::Time reported(const HostState& host) {
    return std::max(*host.last_report, host.away_until);
}
base::Duration no_report_for(const StepContext& ctx, const HostState& host) {
    return ctx.now - std::max(reported(host), ctx.state.grace_from);
}

// Those with at least two others that were last heard within this time of them.
std::vector<SilentHost> find_together(const std::vector<SilentHost>& late, base::Duration within) {
    std::vector<SilentHost> group;
    for (std::size_t i = 0, first = 0, end = 0; i < late.size(); ++i) {
        while (late[i].heard - late[first].heard > within)
            ++first;
        while (end < late.size() && late[end].heard - late[i].heard <= within)
            ++end;
        if (end - first >= least_group) group.push_back(late[i]);
    }
    return group;
}

// Whether a member was last heard within this time of it. `group` is in the order of `heard`.
bool falls_in(const std::vector<SilentHost>& group, const SilentHost& host, base::Duration within) {
    const auto next =
        std::lower_bound(group.begin(), group.end(), host.heard - within,
                         [](const SilentHost& member, base::Time heard) { return member.heard < heard; });
    return next != group.end() && next->heard - host.heard <= within;
}

} // namespace

bool Silence::holds(const std::string& host) const {
    return std::binary_search(group.begin(), group.end(), host);
}

base::Time heard_from(const HostState& host) {
    return std::max({*host.last_report, host.away_until, host.alive_at});
}

base::Duration silence_of(const StepContext& ctx, const HostState& host) {
    return ctx.now - std::max(heard_from(host), ctx.state.grace_from);
}

bool dark_since_report(const StepContext& ctx, const HostState& host) {
    return host.dark_since && *host.dark_since >= heard_from(host) - ctx.policy.witness_wait;
}

bool unconfirmed_loss(const StepContext& ctx, const HostState& host) {
    return lost_by_rm_alone(host) && ctx.now - *host.last_report < memory;
}

Silence look_for_silence(const StepContext& ctx) {
    // A host is late well before it is silent, so that the first of many to reach the limit is not treated as
    // a single failure.
    const auto late = std::max(ctx.policy.silent / 2, ctx.policy.report_interval * 3 / 2);
    Silence found;
    std::size_t unconfirmed = 0;
    std::vector<SilentHost> uncounted; // late, but out of use: they form no group, but may belong to one
    for (const auto& [name, host] : ctx.state.hosts) {
        if (!ought_to_report(ctx, name, host)) {
            if (host.last_report && !host.lost && no_report_for(ctx, host) >= late &&
                !dark_since_report(ctx, host))
                uncounted.push_back({&name, reported(host)});
            continue;
        }
        ++found.agents;
        if (no_report_for(ctx, host) < late) continue;
        if (dark_since_report(ctx, host)) {
            ++found.dark;
            continue;
        }
        found.late.push_back({&name, reported(host)});
        if (host.lost) ++unconfirmed;
    }
    std::sort(found.late.begin(), found.late.end(),
              [](const SilentHost& a, const SilentHost& b) { return a.heard < b.heard; });
    // Hosts lost one by one over an hour are also a group when they reach half of all, or more than may be
    // drained.
    const auto bound = share_of_hosts(ctx.policy.max_drained_percent, found.agents);
    const bool half = found.late.size() >= least_group && 2 * found.late.size() >= found.agents;
    const bool spent = unconfirmed >= least_group && static_cast<double>(unconfirmed) >= bound;
    const auto within = ctx.policy.together();
    const auto group = half || spent ? found.late : find_together(found.late, within);
    for (const auto& host : group) {
        found.group.push_back(*host.name);
        if (no_report_for(ctx, ctx.state.hosts.at(*host.name)) >= ctx.policy.silent) ++found.certain;
    }
    if (!group.empty()) found.since = group.front().heard;
    for (const auto& host : uncounted)
        if (falls_in(group, host, within)) found.group.push_back(*host.name);
    std::sort(found.group.begin(), found.group.end());
    return found;
}

std::string describe_group(const State& state, const std::vector<std::string>& group) {
    constexpr std::size_t most_bytes = 200;
    auto text = base::fold_hostlist(group);
    if (text.size() > most_bytes) text = fmt::format("{} and {} others", group.front(), group.size() - 1);
    const auto unit_of = [&](const std::string& name) {
        const auto host = state.hosts.find(name);
        return host == state.hosts.end() ? std::string() : host->second.unit;
    };
    const auto unit = unit_of(group.front());
    if (unit.empty() ||
        !std::all_of(group.begin(), group.end(), [&](const auto& name) { return unit_of(name) == unit; }))
        return text;
    const auto agents = std::count_if(state.hosts.begin(), state.hosts.end(), [&](const auto& entry) {
        return entry.second.unit == unit && entry.second.last_report;
    });
    return fmt::format("{} ({} of the {} agents of unit {})", text, group.size(), agents, unit);
}

} // namespace restart
