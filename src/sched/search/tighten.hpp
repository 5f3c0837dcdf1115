// Units that leave fewer free hosts over than the largest ones. Internal to src/sched.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/loads.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sched {

// The given number of units in these pods: the first `count` in covering_order() (cover.hpp), which hold the
// gang of a segmented() request, with up to `swaps` of them exchanged for smaller ones, so that they still
// hold it and have as few candidates as possible with that many exchanges. Units with required hosts are
// kept; replacements are healthy, not wholly free, and all their free hosts are candidates. Costs units ×
// swaps × hosts left over, for at most `swaps` units of each size; no exchanges are made if the budget does
// not permit that.
std::vector<std::uint32_t> tightest(const Loads& loads, const std::vector<std::uint32_t>& pods,
                                    std::size_t count, std::size_t swaps, Budget& budget);

} // namespace sched
