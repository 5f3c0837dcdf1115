// Several jobs at once: each is placed by place(), and together they are as compact as can be found.
//
// Placing the jobs one by one gives the first its best place and the last what remains. So all promising
// orders are tried; then a few jobs at a time are removed and placed again in another order, occasionally
// without a unit they had. An improvement is kept, at first also a slight worsening (simulated annealing over
// ruin and recreate: Schrimpf et al., Journal of Computational Physics 159, 2000). Pure and deterministic:
// the same seed gives the same plan.
#pragma once

#include "sched/place.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sched::plan {

// The cost of a plan, most important term first; the lowest is best.
struct BatchCost {
    std::uint64_t unplaced = 0;   // nodes requested by jobs without a placement
    std::uint64_t span = 0;       // sum over the placed jobs of units + BatchPlan::pod_weight × pods
    std::uint64_t misaligned = 0; // sum of misaligned rails
    std::uint64_t avoidance = 0;  // sum of 1 - health, thousandths
    std::uint32_t broken = 0;     // wholly free units that end up partly taken
    std::uint32_t left_over = 0;  // free hosts left in the units used
    auto operator<=>(const BatchCost&) const = default;
};

struct BatchPlan {
    std::vector<std::optional<Placement>> placements; // by job
    std::vector<std::string> refusals;                // by job: why it has no place with the others; or empty
    std::vector<std::optional<Score>> alone;          // by job: if it had the fabric to itself
    BatchCost cost;
    std::uint32_t pod_weight = 0; // a pod counts as many units as the largest pod contains
    std::uint64_t rounds = 0;     // completed

    // For one job: its part of BatchCost::span.
    std::uint64_t span_of(const Score& score) const {
        return score.units + std::uint64_t{pod_weight} * score.pods;
    }
};

struct BatchEffort {
    std::uint64_t seed = 1;
    std::uint64_t rounds = 4000; // at most; fewer if each job has what it would have alone
};

// For requests with a range of nodes, as many as fit when it is their turn. Requests that place() would
// reject as contradictory count as unplaced.
BatchPlan plan_batch(const Placer& placer, const Snapshot& snapshot, const std::vector<Request>& jobs,
                     const BatchEffort& effort = {});

} // namespace sched::plan
