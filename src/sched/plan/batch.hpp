// Several jobs at once: each placed by place(), all together as compactly as can be found.
//
// Taking the jobs one after the other gives the first its best and the last what remains. So: every order
// that is worth a try, then rounds of taking a few jobs out and placing them again in another order, at times
// without a unit they had, kept when the whole is better, at first also when it is little worse (simulated
// annealing over ruin and recreate: Schrimpf et al., Journal of Computational Physics 159, 2000). Pure and
// deterministic: the same seed gives the same plan.
#pragma once

#include "sched/place.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sched::plan {

// The cost of a plan, most important term first; least is best.
struct BatchCost {
    std::uint64_t unplaced = 0;   // nodes asked for by the jobs that got none
    std::uint64_t span = 0;       // sum over the placed jobs of units + BatchPlan::pod_weight × pods
    std::uint64_t misaligned = 0; // sum of misaligned rails
    std::uint64_t avoidance = 0;  // sum of 1 - health, thousandths
    std::uint32_t broken = 0;     // units that were wholly free and end partly taken
    std::uint32_t left_over = 0;  // hosts left free in the units that were touched
    auto operator<=>(const BatchCost&) const = default;
};

struct BatchPlan {
    std::vector<std::optional<Placement>> placements; // by job
    std::vector<std::string> refusals;                // by job: why it got none beside the others; else empty
    std::vector<std::optional<Score>> alone;          // by job: had it the fabric for itself
    BatchCost cost;
    std::uint32_t pod_weight = 0; // a pod counts as many units as the largest pod has
    std::uint64_t rounds = 0;     // done

    // Of one job: what BatchCost::span sums up.
    std::uint64_t span_of(const Score& score) const {
        return score.units + std::uint64_t{pod_weight} * score.pods;
    }
};

struct BatchEffort {
    std::uint64_t seed = 1;
    std::uint64_t rounds = 4000; // at most; fewer when each job has what it would have alone
};

// Of requests for a range of nodes as many as fit are taken when their turn comes. Requests that place()
// would refuse as contradictory count as unplaced.
BatchPlan plan_batch(const Placer& placer, const Snapshot& snapshot, const std::vector<Request>& jobs,
                     const BatchEffort& effort = {});

} // namespace sched::plan
