// Units that leave fewer free hosts over than the largest ones do. Internal to src/sched.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/loads.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sched {

// So many units of these pods: of those in covering_order() (cover.hpp) the first `count`, which hold the
// gang of a segmented() request, with up to `swaps` of them exchanged for smaller ones, so that they still
// hold it and have as few candidates as can be with so many exchanges. Units with required hosts stay; those
// that come are sound, not wholly free, and all that is free of them are candidates. Costs units × swaps ×
// hosts left over, for at most `swaps` units of each size; without them where the budget does not afford
// that.
std::vector<std::uint32_t> tightest(const Loads& loads, const std::vector<std::uint32_t>& pods,
                                    std::size_t count, std::size_t swaps, Budget& budget);

} // namespace sched
