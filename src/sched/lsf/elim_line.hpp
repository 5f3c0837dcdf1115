// What elim.rail tells LSF's lim of a host, as external load indices (LSF 10.1, "External load indices"):
// health, from 100 to 0, and planned, which is 0 everywhere and is what a queue whose jobs only restartd
// starts selects by. Pure.
#pragma once

#include "base/clock.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sched::lsf {

// What becomes of an index below loadSched, and in which order hosts are taken, is the site's (lsb.hosts,
// lsb.queues); 50 is what elim.rail(8) recommends.
inline constexpr int sound = 100;
inline constexpr int warned = 60;  // taken after sound hosts
inline constexpr int unknown = 60; // an agent that does not answer closes no host: all of them may not
inline constexpr int broken = 0;   // jobs are to leave it: it takes none

// The index of a page of nodewatchd's metrics (nodewatchd(8)): by the worst severity that holds. Nothing
// where the page is not one of nodewatchd's, was cut, or is of a look older than `oldest`.
std::optional<int> health_of(std::string_view page, base::Time now, base::Duration oldest);

// "2 health 100 planned 0\n", of those indices that LSF asks for by LSF_RESOURCES ("mem health planned"); all
// of them where it does not say. Empty: it wants none.
std::string elim_line(int health, const char* wanted);

} // namespace sched::lsf
