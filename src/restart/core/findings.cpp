// From findings to incidents: what asks to leave a host, and what is already being dealt with.

#include "restart/core/file_doubt.hpp"
#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

std::string signal_of(const Finding& finding) {
    return fmt::format("{} {}: {}", finding.component, finding.rule, finding.evidence);
}

} // namespace

std::vector<const Finding*> leave_findings(const State& state, const HostState& host) {
    std::vector<const Finding*> asking;
    for (const auto& finding : host.findings)
        if (finding.severity >= Severity::evict && counts(state, host, finding) &&
            !has_name(host.pardoned, key_of(finding)))
            asking.push_back(&finding);
    return asking;
}

bool holds_finding(const HostState& host, std::string_view key) {
    return std::any_of(host.findings.begin(), host.findings.end(),
                       [&](const Finding& finding) { return key_of(finding) == key; });
}

bool fault_holds(const State& state, const HostState& host) {
    return gone(host) || !leave_findings(state, host).empty();
}

bool is_faulty(const State& state, const HostState& host) {
    return host.lost || std::any_of(host.findings.begin(), host.findings.end(), [&](const Finding& finding) {
               return finding.severity >= Severity::evict && counts(state, host, finding);
           });
}

void judge(Turn& turn, const std::string& name) {
    // Jobs are known only from a snapshot.
    if (!turn.state.rm_read) return;
    const auto found = turn.state.hosts.find(name);
    if (found == turn.state.hosts.end() || found->second.lost) return;
    const auto& host = found->second;
    const auto asking = leave_findings(turn.state, host);
    if (asking.empty()) return;

    const auto* open = turn.state.incident_of(name);
    if (open == nullptr && kept_clear(turn.state, name)) return;
    if (open != nullptr && open->phase == Phase::suspected) return; // whether it lives comes first
    auto& incident = open != nullptr ? turn.state.incidents.at(open->number)
                                     : open_incident(turn, IncidentKind::bad_host, Phase::saving, name,
                                                     signal_of(*asking.front()), asking.front()->since);
    bool fatal = false;
    for (const auto* finding : asking) {
        if (has_name(incident.rules, key_of(*finding))) continue;
        incident.rules.push_back(key_of(*finding));
        turn.note(NoteKind::signal, incident, 0, signal_of(*finding));
        fatal = fatal || finding->severity == Severity::fatal;
    }
    if (open == nullptr || (fatal && incident.phase == Phase::saving)) begin_recovery(turn, incident);
}

} // namespace restart
