#include "restart/core/facts/state.hpp"

#include "restart/core/facts/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {

bool State::knows_host(std::string_view name) const {
    const auto found = hosts.find(name);
    return found != hosts.end() && (found->second.node || !found->second.unit.empty());
}

const JobState* State::find_job(base::JobId id) const {
    if (const auto found = jobs.find(id); found != jobs.end()) return &found->second;
    for (const auto& [number, job] : jobs)
        for (const auto& component : job.rm.components)
            if (component.id == id) return &job;
    return nullptr;
}

const Incident* State::incident_of(std::string_view host) const {
    for (const auto& [number, incident] : incidents)
        if (incident.host == host && is_fault(incident.kind)) return &incident;
    return nullptr;
}

std::string_view to_string(ActionKind kind) {
    return codec::name(kind);
}
std::string_view to_string(NoteKind kind) {
    return codec::name(kind);
}
std::string_view to_string(IncidentKind kind) {
    return codec::name(kind);
}
std::string_view to_string(Phase phase) {
    return codec::name(phase);
}

std::string_view to_string(RepairStage stage) {
    return codec::name(stage);
}

std::string plan_action(base::JobId job, const GangPlan& plan) {
    return fmt::format("p-{}/{}", to_string(job), plan.number);
}

std::string idle_check_action(std::string_view host, const IdleCheck& check) {
    return fmt::format("c-{}/{}", host, check.number);
}

} // namespace restart
