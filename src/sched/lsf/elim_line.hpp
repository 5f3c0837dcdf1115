// What elim.rail reports to LSF's lim about a host, as external load indices (LSF 10.1, "External load
// indices"): health, from 100 to 0, and planned, which is 0 everywhere and is used in the selection of queues
// whose jobs only restartd starts. Pure.
#pragma once

#include "base/clock.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sched::lsf {

// The site decides what happens to an index below loadSched, and in which order hosts are used (lsb.hosts,
// lsb.queues); elim.rail(8) recommends 50.
inline constexpr int sound = 100;
inline constexpr int warned = 60;  // used after healthy hosts
inline constexpr int unknown = 60; // an agent that does not answer closes no host: otherwise all could close
inline constexpr int broken = 0;   // jobs should leave it: it takes none

// The index from a page of nodewatchd's metrics (nodewatchd(8)): based on the worst active severity. Nothing
// if the page is not from nodewatchd, is truncated, or is older than `oldest`.
std::optional<int> health_of(std::string_view page, base::Time now, base::Duration oldest);

// "2 health 100 planned 0\n", with those indices that LSF requests in LSF_RESOURCES ("mem health planned");
// all if it is not set. Empty: none are requested.
std::string elim_line(int health, const char* wanted);

} // namespace sched::lsf
