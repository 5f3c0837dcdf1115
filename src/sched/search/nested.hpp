// The search if hosts are counted below the unit or groups of ranks above it: fabrics with NVLink domains,
// and nested segments that pods keep whole.
//
// Domains are in units, units in pods. The best use of a part for each number of ranks, spares and idle hosts
// follows from those of the parts within it (nested_program.hpp), which is exact in all terms. So is the
// ordinary search if it can count domains itself (domains_count() in choose.hpp). If it cannot, and tables
// would exceed the budget, the units are those of the ordinary search without domains, which proves the
// fewest pods and units, and the hosts are distributed over their domains; if bounds do not prove the other
// terms, too, this counts as a cut.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

#include <functional>
#include <optional>

namespace sched {

// Like search_tier(), for is_nested() (nested_fit.hpp); `ordinary` runs that search, either without domains
// or, with domains_count() (choose.hpp), with them.
std::optional<Found> search_nested(const Loads& loads, Tier tier, Budget& budget,
                                   const std::function<std::optional<Found>(bool domains)>& ordinary);

} // namespace sched
