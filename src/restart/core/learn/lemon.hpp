// Hosts that fail again and again (lemon nodes: arXiv 2410.21680): each fault of a host that counted
// (learn.hpp) is worth 1 when it happens and half as much after each half-life; the score is their sum.
// Faults of what hosts share count against none of them.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/state.hpp"

#include <cstddef>
#include <string>

namespace restart {

inline constexpr std::size_t most_faults = 20; // remembered of a host, the newest
inline constexpr int half_lives = 5;           // for which a fault is remembered: by then it is worth 1/32

double lemon_score(const HostHistory& host, base::Time now, base::Duration half_life);

// A fault of the host began `now`.
void remember_fault(HostHistory& host, base::Time now, std::string what, base::Duration half_life);
// Its last one was not its own.
void forget_last_fault(HostHistory& host);

} // namespace restart
