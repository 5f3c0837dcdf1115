// A restarted job returns to its previous hosts (Request::had), whose page caches and local checkpoints are
// warm: as many as possible without more pods or units, worse rails or worse health.
#pragma once

#include "sched/ask/request.hpp"
#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// How many of these hosts are not in Request::had; 0 if that is empty.
std::uint32_t moved_hosts(const Request& request, const std::vector<std::uint32_t>& hosts);

// Like search(), for a request with `had`. In the more important terms the result is never worse than that of
// search() without it, whatever is left of the budget. Exact unless the budget was cut; gangs above
// Loads::most_to_keep hosts count as cut. Costs at most four searches from the one budget, usually one or
// two.
std::optional<Found> search_keeping(const Loads& loads, Budget& budget);

} // namespace sched
