// The search where hosts are counted below the unit or groups of ranks above it: fabrics with NVLink domains,
// and nested segments that pods keep whole.
//
// Domains lie in units, units in pods. What is best in a part for each number of ranks, spares and idle hosts
// follows from the same of the parts within it (nested_program.hpp), which is exact in all terms. So is the
// ordinary search where it can count domains itself (domains_count() in choose.hpp). Where it cannot, and
// tables cost more than the budget has, the units are those of the ordinary search without domains, which
// proves the fewest pods and units, and the hosts are distributed over their domains; where bounds do not
// prove the rest, too, that counts as a cut.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

#include <functional>
#include <optional>

namespace sched {

// As search_tier(), for what is_nested() (nested_fit.hpp); `ordinary` is that search for what it can do
// without domains or, where domains_count() (choose.hpp), with them.
std::optional<Found> search_nested(const Loads& loads, Tier tier, Budget& budget,
                                   const std::function<std::optional<Found>(bool domains)>& ordinary);

} // namespace sched
