#include "restart/core/facts/state.hpp"

#include "restart/core/store/state_1.hpp"
#include "restart/core/store/state_fields.hpp"

#include <algorithm>

namespace restart {

std::string State::to_json() const {
    codec::Writer writer;
    writer("v", state_version);
    fields(writer, *this);
    return base::to_text(std::move(writer).take());
}

base::Expected<State> State::from_json(std::string_view text) {
    const auto document = base::parse_json(text);
    if (!document) return document.error();
    const base::Reader reader(*document);
    const auto version = reader.integer_in("v", oldest_state_version, state_version);
    if (!version) return version.error();
    State state;
    if (auto taken = codec::Taker::take(reader, state, codec::unbounded); !taken)
        return std::move(taken).error();
    for (const auto& [id, job] : state.jobs)
        if (job.rm.id != id)
            return reader.error("jobs: the entry " + to_string(id) + " is about another job");
    for (const auto& [number, incident] : state.incidents)
        if (incident.number != number || number >= state.next_incident)
            return reader.error("incidents: the entry " + std::to_string(number) + " has another number");
    if (*version < 2) take_up_version_1(state, reader);
    return state;
}

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

} // namespace restart
