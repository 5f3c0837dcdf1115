#include "restart/core/detect/health.hpp"

#include "restart/core/detect/agreed_checks.hpp"
#include "restart/core/detect/file_trust.hpp"
#include "restart/core/learn/lemon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace restart {
namespace {

constexpr double leave = 0.2, avoid = 0.6, suspicion = 0.9, fault = 0.9, least = 0.05;
constexpr std::string_view missing_gpu = "gpu.missing"; // a job that needs it fails there at once

std::string phrase_of(const std::vector<AgreedCheck>& checks) {
    const auto& first = checks.front();
    return fmt::format("{} {} {}{}", first.component, first.check,
                       first.others > 0 ? fmt::format("differs from that of {} hosts", first.others)
                       : first.idle     ? std::string("is bad in an idle check")
                                        : fmt::format("is bad in checks of {} users", first.users),
                       checks.size() > 1 ? fmt::format(", and {} more", checks.size() - 1) : "");
}

base::HostHealth judged(const State& state, const HostState& host, const std::vector<AgreedCheck>& checks,
                        base::Time now, base::Duration half_life) {
    double health = 1;
    std::string why;
    const auto take = [&](double factor, const std::string& phrase) {
        health *= factor;
        why += (why.empty() ? "" : "; ") + phrase;
    };
    for (const auto& finding : host.findings)
        if (finding.severity != Severity::info && counts(state, host, finding))
            take(finding.severity == Severity::warn && finding.rule != missing_gpu ? avoid : leave,
                 fmt::format("{} {}", finding.component, finding.rule));
    if (!checks.empty()) take(avoid, phrase_of(checks));
    if (host.links.links_total > 0 && host.links.links_up < host.links.links_total)
        take(static_cast<double>(host.links.links_up) / host.links.links_total,
             fmt::format("{} of {} links down", host.links.links_total - host.links.links_up,
                         host.links.links_total));
    if (host.suspicion_dropped) take(suspicion, "was silent for a while");
    if (const auto score = std::round(lemon_score(host, now, half_life) * 10) / 10; score > 0)
        take(std::pow(fault, score), fmt::format("lemon score {:.1f}: it has failed before", score));
    return {static_cast<float>(std::max(least, health)), std::move(why)};
}

} // namespace

base::HealthMap health_of(const State& state, base::Time now, base::Duration lemon_half_life) {
    base::HealthMap weak;
    auto agreed = agreed_checks(state, now);
    for (const auto& [name, host] : state.hosts)
        if (auto health = judged(state, host, agreed[name], now, lemon_half_life); health.health < 1)
            weak.emplace_hint(weak.end(), name, std::move(health));
    return weak;
}

} // namespace restart
