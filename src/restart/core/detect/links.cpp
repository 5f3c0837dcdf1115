// Findings about links, as judged by fabricwatchd. They are kept, noted and shown, but not used for
// decisions: which end of a link is to blame is not known, and a host's own port is judged by its agent.

#include "restart/core/detect/detect.hpp"
#include "restart/core/facts/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

bool same(const LinkFinding& a, const LinkFinding& b) {
    return a.rule == b.rule && a.severity == b.severity && a.a == b.a && a.a_port == b.a_port && a.b == b.b &&
           a.b_port == b.b_port;
}

bool holds(const std::vector<LinkFinding>& list, const LinkFinding& finding) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return same(one, finding); });
}

// The host at one of its ends, in whose timeline it is noted; empty: it joins switches.
std::string host_of(const State& state, const LinkFinding& finding) {
    for (const auto* end : {&finding.a, &finding.b})
        if (state.hosts.contains(*end)) return *end;
    return {};
}

} // namespace

void take_links_word(StepContext& ctx, const FabricReport& report) {
    auto& state = ctx.state;
    if (report.counters) state.counters = report.counters;
    if (!report.findings) return;
    // After a reading that failed it repeats what it knew before.
    if (report.counters && report.counters->answered > 0) state.links_judged = ctx.now;
    // An info is shown while it holds, but not noted.
    for (const auto& finding : *report.findings)
        if (finding.severity > Severity::info && !holds(state.links, finding))
            ctx.note_host(NoteKind::signal, host_of(state, finding),
                          state_text(fmt::format("link {}: {} ({}): {}", name_of(finding), finding.rule,
                                                 to_string(finding.severity), finding.evidence)));
    for (const auto& finding : state.links)
        if (finding.severity > Severity::info && !holds(*report.findings, finding))
            ctx.note_host(NoteKind::signal, host_of(state, finding),
                          state_text(fmt::format("link {}: {}: cleared", name_of(finding), finding.rule)));
    if (state.links == *report.findings) return;
    state.links = *report.findings;
    for (auto& finding : state.links) {
        finding.evidence = state_text(finding.evidence);
        for (auto* text :
             {&finding.a, &finding.a_port, &finding.b, &finding.b_port, &finding.unit, &finding.pod})
            *text = state_text(*text, 128);
    }
}

} // namespace restart
