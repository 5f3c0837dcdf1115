#include "restart/core/facts/step_context.hpp"

#include <utility>

namespace restart {

Incident& open_incident(StepContext& ctx, IncidentKind kind, Phase phase, std::string host, std::string what,
                        base::Time fault) {
    const auto number = ctx.state.next_incident++;
    auto& incident = ctx.state.incidents[number];
    incident.number = number;
    incident.kind = kind;
    incident.phase = phase;
    incident.host = std::move(host);
    incident.what = state_text(what, 512);
    incident.opened = ctx.now;
    incident.fault = std::min(fault, ctx.now);
    ctx.changed();
    return incident;
}

} // namespace restart
