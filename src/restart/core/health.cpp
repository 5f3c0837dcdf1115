#include "restart/core/health.hpp"

#include "restart/core/file_doubt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace restart {
namespace {

constexpr double leave = 0.2, avoid = 0.6, suspicion = 0.9, fault = 0.9, least = 0.05;

base::HostHealth judged(const State& state, const HostState& host, base::Time now) {
    double health = 1;
    std::string why;
    const auto take = [&](double factor, const std::string& phrase) {
        health *= factor;
        why += (why.empty() ? "" : "; ") + phrase;
    };
    for (const auto& finding : host.findings)
        if (finding.severity != Severity::info && counts(state, host, finding))
            take(finding.severity == Severity::warn ? avoid : leave,
                 fmt::format("{} {}", finding.component, finding.rule));
    if (host.links.links_total > 0 && host.links.links_up < host.links.links_total)
        take(static_cast<double>(host.links.links_up) / host.links.links_total,
             fmt::format("{} of {} links down", host.links.links_total - host.links.links_up,
                         host.links.links_total));
    if (host.doubted) take(suspicion, "was silent for a while");
    const auto faults = std::count_if(host.faults.begin(), host.faults.end(),
                                      [&](base::Time at) { return now - at < fault_counts; });
    if (faults > 0)
        take(std::pow(fault, static_cast<double>(faults)),
             fmt::format("{} fault{} in 30 days", faults, faults == 1 ? "" : "s"));
    return {static_cast<float>(std::max(least, health)), std::move(why)};
}

} // namespace

base::HealthMap health_of(const State& state, base::Time now) {
    base::HealthMap weak;
    for (const auto& [name, host] : state.hosts)
        if (auto health = judged(state, host, now); health.health < 1)
            weak.emplace_hint(weak.end(), name, std::move(health));
    return weak;
}

void remember_fault(HostState& host, base::Time now) {
    std::erase_if(host.faults, [&](base::Time at) { return now - at >= fault_counts; });
    if (host.faults.size() == most_faults) host.faults.erase(host.faults.begin());
    host.faults.push_back(now);
}

} // namespace restart
