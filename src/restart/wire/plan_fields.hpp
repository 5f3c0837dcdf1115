// The fields of plan.hpp. Internal to restart/wire; include only from .cpp files.
#pragma once

#include "restart/wire/codec.hpp"
#include "restart/wire/plan.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<PauseStatus> auto& pause) {
    codec("user", pause.user);
    codec("reason", pause.reason);
    codec("since", pause.since);
    codec("until", pause.until);
    codec("hosts", pause.hosts);
}

template <class Codec> void fields(Codec& codec, codec::Of<MaintenanceStatus> auto& maintenance) {
    codec("by", maintenance.by);
    codec("hosts", maintenance.hosts);
}

template <class Codec> void fields(Codec& codec, codec::Of<BoundStatus> auto& bound) {
    codec("key", bound.key);
    codec("of", bound.of);
    codec("why", bound.why);
    codec("since", bound.since);
}

template <class Codec> void fields(Codec& codec, codec::Of<Modes> auto& modes) {
    codec("observe_only", modes.observe_only);
    codec("pauses", modes.pauses);
    codec("maintenance", modes.maintenance);
    codec("bounds", modes.bounds);
}

template <class Codec> void fields(Codec& codec, codec::Of<PlanStep> auto& step) {
    codec("state", step.state);
    codec("what", step.what);
    codec("job", step.job);
    codec("by", step.by);
    codec("key", step.key);
    codec("why", step.why);
}

template <class Codec> void fields(Codec& codec, codec::Of<PlannedIncident> auto& incident) {
    codec("id", incident.id);
    codec("kind", incident.kind);
    codec("phase", incident.phase);
    codec("host", incident.host);
    codec("what", incident.what);
    codec("steps", incident.steps);
}

template <class Codec> void fields(Codec& codec, codec::Of<RecoveryPlan> auto& plan) {
    codec("time", plan.time);
    codec("modes", plan.modes);
    codec("incidents", plan.incidents);
    codec("not_shown", plan.not_shown);
}

} // namespace restart
