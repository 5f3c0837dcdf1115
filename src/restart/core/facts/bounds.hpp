// How many hosts may be kept out of use or taken for lost, in all, by place and by time: the part of the gate
// (act/gate.hpp) that detection needs, too.
#pragma once

#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

class StepContext;

// What keeps something back.
struct Shut {
    std::string key; // a key of railyard.conf(5)
    std::string why; // a phrase
    std::string of;  // of a bound: the unit, leaf or pod; empty: of all hosts
};

inline constexpr std::array<std::string_view, 8> bound_keys{
    "max_drained_percent", "max_drained_absolute", "max_drained_per_unit", "max_drained_per_leaf",
    "max_drained_per_pod", "max_drained_per_hour", "max_lost_percent",     "max_lost_per_unit"};

// So many of these hosts, rounded up to whole ones.
double share_of_hosts(double percent, std::size_t hosts);

// How many more hosts may be kept free of jobs, in all. Linear in hosts.
std::size_t drains_left(const State& state, const Policy& policy);

// Why no more hosts may be kept out of use now, this one in particular. Such bounds stop neither
// a recovery nor the return of hosts. Linear in hosts.
std::optional<Shut> bound_on_drain(const State& state, const Policy& policy, base::Time now,
                                   const HostState& host);

// Why this host may not be taken for lost by the word of the resource manager alone: many others were within
// lost_window, and what silences it may silence them all. Linear in hosts.
std::optional<Shut> bound_on_down(const State& state, const Policy& policy, base::Time now,
                                  const HostState& host);

// The first thing that a bound keeps back is noted, `what` follows from it; so is the end, when
// it has kept nothing back for ten minutes.
void note_crossing(StepContext& ctx, const Shut& bound, std::string_view what);
void end_crossings(StepContext& ctx);

} // namespace restart
