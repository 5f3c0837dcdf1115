#include "restart/core/store/state_json.hpp"

#include "restart/core/store/state_1.hpp"
#include "restart/core/store/state_fields.hpp"

namespace restart {

std::string to_json(const State& state) {
    codec::Writer writer;
    writer("v", state_version);
    fields(writer, state);
    return base::to_text(std::move(writer).take());
}

base::Expected<State> state_from_json(std::string_view text) {
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

} // namespace restart
