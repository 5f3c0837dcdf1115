#include "restart/core/act/gate.hpp"

#include "restart/core/act/act.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

bool asked_for(const State& state, const Action& action) {
    return std::any_of(state.incidents.begin(), state.incidents.end(), [&](const auto& entry) {
        const auto& [kind, intents] = std::tie(entry.second.kind, entry.second.intents);
        return kind == IncidentKind::operator_request &&
               std::any_of(intents.begin(), intents.end(),
                           [&](const Intent& intent) { return intent.action.id == action.id; });
    });
}

std::optional<Shut> observing(const Policy& policy) {
    if (policy.observe_only) return Shut{"observe_only", "observe_only is set", {}};
    return {};
}

} // namespace

std::optional<Shut> gate(const State& state, const Policy& policy, base::Time now, std::string_view host) {
    if (auto shut = observing(policy)) return shut;
    if (const auto* pause = pause_of(state, now, host))
        return Shut{"pause", fmt::format("paused by {}: {}", pause->user, pause->reason), {}};
    if (auto why = maintenance_of(state, host); !why.empty()) return Shut{"maintenance", std::move(why), {}};
    return {};
}

std::optional<Shut> gate(const State& state, const Policy& policy, base::Time now, const Action& action) {
    return asked_for(state, action) ? observing(policy) : gate(state, policy, now, host_of(action));
}

void keep_back(StepContext& ctx, Incident& incident, const std::vector<Withheld>& noted, Withheld kept,
               std::string_view more) {
    if (std::find(noted.begin(), noted.end(), kept) == noted.end())
        ctx.note(NoteKind::decision, incident, kept.job,
                 fmt::format("would {} ({}){}", kept.what, kept.key, more));
    incident.withheld.push_back(std::move(kept));
}

} // namespace restart
