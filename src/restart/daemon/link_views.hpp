// The links that a job's hosts, or one host, use, with what fabricwatchd found on them, as the answers of GET
// /v1/explain show it (wire/status.hpp). Pure.
//
// What is known about paths: a host's own link carries everything that the host sends and receives on its
// rail. A link from a leaf upwards carries some of the traffic of its hosts with hosts not behind that leaf,
// and a link above leaves some of the traffic that leaves their pod. The routing's choice among several links
// is not known.
#pragma once

#include "restart/core/facts/rights.hpp"
#include "restart/core/facts/state.hpp"
#include "restart/wire/status.hpp"

#include <string>
#include <vector>

namespace restart {

// At most this many of UsedLinksStatus::down; a last one counts the rest.
inline constexpr std::size_t most_down_shown = 32;

// `hosts`: of one job, or one host. `job`: says "this job" of what they exchange. A user who may not see
// hosts gets no other host's name. Linear in hosts, their ports and findings.
UsedLinksStatus used_links(const State& state, base::Time now, const std::vector<std::string>& hosts,
                           bool job, const View& to);

} // namespace restart
