#include "restart/core/decide/weigh.hpp"

#include "restart/core/decide/slowdown.hpp"
#include "restart/core/detect/common_cause.hpp"
#include "restart/core/detect/detect.hpp"

namespace restart {
namespace {

struct Slowest {
    double factor = -1;
    std::string by;
};

void take(Slowest& slowest, const Finding& finding, std::uint32_t rails) {
    const auto factor = slowdown_of(finding.rule, rails).value_or(unknown_slowdown);
    if (factor > slowest.factor) slowest = {factor, key_of(finding)};
}

std::uint32_t rails_of(const HostState& host) {
    return host.ports.empty() ? host.links.links_total : static_cast<std::uint32_t>(host.ports.size());
}

// The slowest of the hosts of a common cause that the job runs on.
Slowest slowest_of_cause(const State& state, const Incident& incident, const JobState& job) {
    Slowest slowest;
    for (const auto& name : job.rm.nodes) {
        const auto host = state.hosts.find(name);
        if (host == state.hosts.end()) continue;
        for (const auto& finding : host->second.findings)
            if (explained_by(state, name, finding) == &incident)
                take(slowest, finding, rails_of(host->second));
    }
    return slowest;
}

} // namespace

std::optional<JobCost> weigh(const State& state, const Policy& policy, base::Time now,
                             const Incident& incident, const JobState& job) {
    if (incident.kind == IncidentKind::common_cause) {
        auto slowest = slowest_of_cause(state, incident, job);
        if (slowest.factor < 0) return {};
        return cost_of(job, slowest.factor, std::move(slowest.by), state, policy, now);
    }
    if (incident.kind != IncidentKind::bad_host) return {};
    const auto host = state.hosts.find(incident.host);
    if (host == state.hosts.end() || host->second.lost) return {};
    Slowest slowest;
    for (const auto* finding : leave_findings(state, host->second)) {
        if (finding->severity == Severity::fatal) return {};
        take(slowest, *finding, rails_of(host->second));
    }
    if (slowest.factor < 0) return {};
    return cost_of(job, slowest.factor, slowest.by, state, policy, now);
}

} // namespace restart
