#include "restart/core/detect/witnesses.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

// fabricwatchd sweeps every few seconds; an older sweep does not show the present state.
constexpr base::Duration sweep_counts{60'000};

std::string of_fabric(const Witnesses& witnesses) {
    if (!witnesses.swept) return "the fabric: no sweep has come (fabricwatchd(8))";
    const auto age = base::human_duration(*witnesses.swept);
    return witnesses.fabric
               ? fmt::format("the fabric: swept {} ago", age)
               : fmt::format("the fabric: swept {} ago, too long to be a witness (fabricwatchd(8))", age);
}

std::string of_resource_manager(const Witnesses& witnesses) {
    if (!witnesses.declares_down_after)
        return "the resource manager: it has not told when it gives a silent host up";
    if (*witnesses.declares_down_after == base::Duration::zero())
        return "the resource manager: it never gives a silent host up";
    return fmt::format("the resource manager: gives a silent host up after {}",
                       base::human_duration(*witnesses.declares_down_after));
}

} // namespace

Witnesses witnesses_of(const State& state, const Policy& policy, base::Time now) {
    Witnesses witnesses;
    for (const auto& [name, host] : state.hosts) {
        if (!host.node) continue;
        ++witnesses.hosts;
        if (host.last_report && now - *host.last_report <= policy.silent) ++witnesses.agents;
    }
    if (state.rm_config) witnesses.declares_down_after = state.rm_config->declares_down_after;
    if (state.swept) witnesses.swept = std::max(now - *state.swept, base::Duration::zero());
    witnesses.fabric = witnesses.swept && *witnesses.swept <= sweep_counts;
    const bool rm_soon = witnesses.declares_down_after &&
                         *witnesses.declares_down_after > base::Duration::zero() &&
                         *witnesses.declares_down_after <= policy.silent + policy.witness_wait;
    witnesses.slow = !witnesses.fabric && !rm_soon;
    return witnesses;
}

std::vector<std::string> sentences(const Witnesses& witnesses) {
    return {fmt::format("agents: {} of {} hosts are heard", witnesses.agents, witnesses.hosts),
            of_fabric(witnesses), of_resource_manager(witnesses)};
}

} // namespace restart
