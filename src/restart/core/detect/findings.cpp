// From findings to incidents: which findings ask to move jobs off a host, and which are being handled.

#include "restart/core/detect/common_cause.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/detect/file_trust.hpp"
#include "restart/core/facts/host_use.hpp"

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
            !has_name(host.overruled, key_of(finding)) && !has_name(host.explained, key_of(finding)))
            asking.push_back(&finding);
    return asking;
}

bool fault_holds(const State& state, const HostState& host) {
    return counts_as_lost(host) || !leave_findings(state, host).empty();
}

bool is_faulty(const State& state, const HostState& host) {
    return host.lost || std::any_of(host.findings.begin(), host.findings.end(), [&](const Finding& finding) {
               return finding.severity >= Severity::evict && counts(state, host, finding);
           });
}

void judge(StepContext& ctx, const std::string& name) {
    // Jobs are known only from a snapshot.
    if (!ctx.state.rm_read) return;
    const auto found = ctx.state.hosts.find(name);
    if (found == ctx.state.hosts.end() || found->second.lost) return;
    const auto& host = found->second;
    auto asking = leave_findings(ctx.state, host);
    std::erase_if(asking, [&](const Finding* finding) { return awaits_company(ctx, host, *finding); });
    if (asking.empty()) return;

    const auto* open = ctx.state.incident_of(name);
    if (open == nullptr && (drained_and_empty(ctx.state, name) || in_maintenance(ctx.state, name, host)))
        return;
    if (open != nullptr && open->phase == Phase::suspected) return; // whether the host is alive comes first
    auto& incident = open != nullptr ? ctx.state.incidents.at(open->number)
                                     : open_incident(ctx, IncidentKind::bad_host, Phase::saving, name,
                                                     signal_of(*asking.front()), asking.front()->since);
    bool fatal = false;
    for (const auto* finding : asking) {
        if (has_name(incident.rules, key_of(*finding))) continue;
        incident.rules.push_back(key_of(*finding));
        ctx.note(NoteKind::signal, incident, {}, signal_of(*finding));
        fatal = fatal || finding->severity == Severity::fatal;
    }
    if (open == nullptr || (fatal && incident.phase == Phase::saving)) incident.fresh = true;
}

} // namespace restart
