// From findings to incidents: what asks to leave a host, and what is already being dealt with.

#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

bool known(const std::vector<std::string>& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string signal_of(const Finding& finding) {
    return fmt::format("{} {}: {}", finding.component, finding.rule, finding.evidence);
}

} // namespace

void judge(Turn& turn, const std::string& name) {
    // Jobs are known only from a snapshot.
    if (!turn.state.rm_read) return;
    const auto found = turn.state.hosts.find(name);
    if (found == turn.state.hosts.end() || found->second.lost) return;
    auto& host = found->second;

    std::vector<const Finding*> fresh;
    for (const auto& finding : host.findings)
        if (finding.severity >= Severity::evict && !known(host.judged, key_of(finding)))
            fresh.push_back(&finding);
    if (fresh.empty()) return;
    const bool fatal = std::any_of(fresh.begin(), fresh.end(),
                                   [](const Finding* f) { return f->severity == Severity::fatal; });

    const auto* open = turn.state.incident_of(name);
    if (open != nullptr && open->phase == Phase::suspected) return; // whether it lives comes first
    auto& incident = open != nullptr ? turn.state.incidents.at(open->number)
                                     : open_incident(turn, IncidentKind::bad_host, Phase::saving, name,
                                                     signal_of(*fresh.front()), fresh.front()->since);
    for (const auto* finding : fresh) {
        host.judged.push_back(key_of(*finding));
        incident.rules.push_back(key_of(*finding));
        turn.note(NoteKind::signal, incident, 0, signal_of(*finding));
    }
    if (open == nullptr || (fatal && incident.phase == Phase::saving)) move_from_bad(turn, incident, fatal);
}

} // namespace restart
