#include "topo/check/check.hpp"

#include "base/hostlist.hpp"
#include "topo/check/nameless.hpp"
#include "topo/check/parts.hpp"
#include "topo/check/plan.hpp"
#include "topo/check/strays.hpp"

namespace topo {

std::string_view to_string(Severity severity) {
    switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::info: break;
    }
    return "info";
}

std::vector<Finding> check(const Fabric& fabric) {
    std::vector<Finding> findings;
    const checks::Plan plan(fabric);
    checks::cabling(fabric, plan, findings);
    const checks::Nameless nameless(fabric, plan);
    checks::hosts(fabric, plan, nameless, findings);
    checks::missing(fabric, nameless, findings);
    checks::missing_units(fabric, findings);
    checks::unnamed(fabric, nameless, findings);
    checks::leaves(fabric, findings);
    checks::order(fabric, findings);
    checks::gpus(fabric, findings);
    checks::uplinks(fabric, findings);
    checks::vanished(fabric, findings);
    checks::globals(fabric, findings);
    checks::links(fabric, findings);
    checks::storage(fabric, plan, findings);
    checks::strays(fabric, findings);
    checks::names(fabric, nameless, findings);
    checks::domains(fabric, findings);
    checks::parts(fabric, findings);
    for (Finding& finding : findings)
        finding.text = finding.evidence + "; " + finding.fix;
    const auto end = [](const Finding& finding) {
        return finding.ends.empty() ? std::string_view() : finding.ends.front();
    };
    std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
        if (a.severity != b.severity) return a.severity < b.severity;
        if (a.code != b.code) return a.code < b.code;
        return base::natural_less(end(a), end(b));
    });
    return findings;
}

} // namespace topo
