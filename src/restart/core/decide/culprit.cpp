// Keeping the culprit out of use: when it is drained or set down, and whether that has been done.

#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

// Reasons stay short enough for a line of the resource manager's list.
constexpr std::size_t most_reason = 160;

std::string reason_of(const Incident& incident) {
    return state_text(tagged(incident.id(), incident.what), most_reason);
}

// Notes why the culprit is not drained, unless the reason is the same as before.
void note_once(StepContext& ctx, Incident& incident, std::string_view reason, std::string text) {
    if (incident.drain_refusal == reason) return;
    incident.drain_refusal = reason;
    ctx.note(NoteKind::decision, incident, {}, std::move(text));
}

// Permanently refused before: not repeated at once.
bool postponed(const StepContext& ctx, const Incident& incident) {
    return std::any_of(incident.intents.begin(), incident.intents.end(), [&](const Intent& intent) {
        return about_host(intent.action) && intent.progress == Progress::failed && ctx.now < intent.next_try;
    });
}

// Whether a drain is allowed now; if not, notes why: once for a bound, which concerns many hosts. `but`: what
// is done nevertheless.
bool may_drain(StepContext& ctx, Incident& incident, const HostState& host, std::string_view but) {
    const auto not_drained = [&](std::string_view reason, std::string_view why) {
        note_once(ctx, incident, reason, fmt::format("{} is {}not drained: {}", incident.host, but, why));
        return false;
    };
    if (owned_by_others(host))
        return not_drained("another", other_owner(host) + " has done so: " + host.node->reason);
    if (owned_by_us(host) && host.node->drain) {
        if (owner_of(host.node->reason) == incident.id()) return false;
        return not_drained("ours", "it is already: " + host.node->reason);
    }
    if (auto bound = bound_on_drain(ctx.state, ctx.policy, ctx.now, host)) {
        note_crossing(ctx, *bound, "no further host is drained");
        incident.drain_refusal = bound->key;
        incident.withheld.push_back(
            {"drain " + incident.host, {}, std::move(bound->key), std::move(bound->why)});
        return false;
    }
    if (!incident.drain_refusal.empty())
        ctx.note(NoteKind::decision, incident, {},
                 fmt::format("{} is drained now: what kept it from that is over", incident.host));
    incident.drain_refusal.clear();
    return true;
}

// Allocations of salloc and srun cannot be restarted: ending them is left to the resource manager and to
// their users, who may save what the other hosts have.
bool has_only_interactive(const State& state, const std::string& host) {
    bool any = false;
    for (const auto& [id, job] : state.jobs) {
        if (!has_name(job.rm.nodes, host)) continue;
        if (!job.rm.interactive) return false;
        any = true;
    }
    return any;
}

// A dead host is set down so that its jobs end now, and drained so that it does not come back on its own. The
// down is part of the recovery, which no bound stops; the drain is not.
void set_down(StepContext& ctx, Incident& incident, const HostState& host) {
    if (!unreachable(ctx.state, host)) return; // it answers the resource manager: only its agent is away
    if (has_only_interactive(ctx.state, incident.host)) {
        if (may_drain(ctx, incident, host, ""))
            start_action(ctx, incident, DrainHost{incident.host, reason_of(incident)});
        return;
    }
    DownHost down;
    down.host = incident.host;
    down.drain = may_drain(ctx, incident, host, host.node->down ? "" : "set down but ");
    if (!host.node->drain && !owned_by_others(host)) down.reason = reason_of(incident);
    if (!host.node->down || down.drain) start_action(ctx, incident, std::move(down));
}

} // namespace

void drain_culprit(StepContext& ctx, Incident& incident) {
    const auto& host = ctx.state.hosts[incident.host];
    if (host_in_flight(ctx.state, incident.host) || postponed(ctx, incident)) return;
    if (!host.node)
        return note_once(
            ctx, incident, "unknown",
            fmt::format("{} is not drained: the resource manager does not know it", incident.host));
    if (host.lost) return set_down(ctx, incident, host);
    if (!may_drain(ctx, incident, host, "")) return;
    start_action(ctx, incident, DrainHost{incident.host, reason_of(incident)});
}

} // namespace restart
