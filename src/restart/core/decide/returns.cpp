// Hosts whose agents reported an orderly shutdown or reboot, which is not a fault. An idle one is set down
// while it is away, like any lost host, counts as no failure, and is put into use again if it comes back soon
// and without a fault. One with running jobs lost them, which counts as a loss.

#include "base/units.hpp"
#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/detect/silence.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

namespace restart {
namespace {

// A boot, with the firmware's tests, takes minutes; if it takes longer someone is working on the host, and
// decides when that is over.
constexpr base::Duration soon = std::chrono::hours(1);
// A fault that existed before shows within this time of its agent's start.
constexpr base::Duration clean = std::chrono::seconds(15);

// Out of use because of the loss that followed, or because the resource manager noticed the reboot itself.
bool out_for(const HostState& host, const Departure& departure) {
    const auto& node = *host.node;
    if (node.automatic) return true;
    return owned_by_us(host) && departure.incident != 0 && incident_in(node.reason) == departure.incident;
}

enum class Return { waits, stays, comes };

Return judge_return(const StepContext& ctx, const std::string& name, const HostState& host) {
    const auto& departure = *host.departure;
    if (host.lost || !host.node || !departure.idle || *departure.back - departure.at > soon ||
        is_faulty(ctx.state, host))
        return Return::stays;
    if (ctx.now - *departure.back < clean || silence_of(ctx, host) > ctx.policy.silent ||
        host.node->not_responding || ctx.state.incident_of(name) != nullptr ||
        host_in_flight(ctx.state, name) || gate(ctx.state, ctx.policy, ctx.now, name))
        return Return::waits;
    return out_for(host, departure) ? Return::comes : Return::stays;
}

} // namespace

void end_departures(StepContext& ctx) {
    for (auto& [name, host] : ctx.state.hosts) {
        if (!host.departure || !host.departure->back) continue;
        const auto verdict = judge_return(ctx, name, host);
        if (verdict == Return::waits) continue;
        const auto away = *host.departure->back - host.departure->at;
        host.departure.reset();
        ctx.changed();
        if (verdict == Return::stays) continue;
        auto& incident = open_incident(ctx, IncidentKind::departure, Phase::moving, name,
                                       "is back after it was shut down in order", ctx.now);
        ctx.note(
            NoteKind::decision, incident, {},
            fmt::format("{} is back {} after it was shut down in order, idle, and is sound: it is put into "
                        "use again",
                        name, base::human_duration(away)));
        start_action(ctx, incident, ResumeHost{name});
    }
}

} // namespace restart
