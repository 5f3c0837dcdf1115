// How many hosts may be kept out of use or considered lost, in total, by place and by time: the part of the
// gate (act/gate.hpp) that detection needs, too.
#pragma once

#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

class StepContext;

// What holds an action back.
struct Shut {
    std::string key; // a key of railyard.conf(5)
    std::string why; // a phrase
    std::string of;  // of a bound: its unit, leaf or pod; empty: all hosts
};

inline constexpr std::array<std::string_view, 8> bound_keys{
    "max_drained_percent", "max_drained_absolute", "max_drained_per_unit", "max_drained_per_leaf",
    "max_drained_per_pod", "max_drained_per_hour", "max_lost_percent",     "max_lost_per_unit"};

// This share of the hosts, rounded up to whole hosts.
double share_of_hosts(double percent, std::size_t hosts);

// How many more hosts may be kept free of jobs, in total. Linear in hosts.
std::size_t drains_left(const State& state, const Policy& policy);

// Why no more hosts may be kept out of use now, and this one in particular. These bounds stop neither a
// recovery nor the return of hosts. Linear in hosts.
std::optional<Shut> bound_on_drain(const State& state, const Policy& policy, base::Time now,
                                   const HostState& host);

// Why this host may not be considered lost on the resource manager's report alone: many others were within
// lost_window, and one cause may silence them all. Linear in hosts.
std::optional<Shut> bound_on_down(const State& state, const Policy& policy, base::Time now,
                                  const HostState& host);

// Notes the first action that a bound holds back, followed by `what`, and the end, when it has held nothing
// back for ten minutes.
void note_crossing(StepContext& ctx, const Shut& bound, std::string_view what);
void end_crossings(StepContext& ctx);

} // namespace restart
