// A job that starts again goes back to the hosts it had (Request::had), whose page caches and local
// checkpoints are warm: as many as can be without more pods or units, worse rails or worse health.
#pragma once

#include "sched/ask/request.hpp"
#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// How many of these hosts are not of Request::had; 0 where that is empty.
std::uint32_t moved_hosts(const Request& request, const std::vector<std::uint32_t>& hosts);

// As search(), for a request with `had`. In what matters more the result is never worse than that of search()
// without it, whatever is left of the budget. Exact unless the budget was cut; that is so for gangs above
// Loads::most_to_keep hosts, too. Costs at most four searches from the one budget, mostly one or two.
std::optional<Found> search_keeping(const Loads& loads, Budget& budget);

} // namespace sched
