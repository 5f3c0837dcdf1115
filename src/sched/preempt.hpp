// Which running jobs a gang replaces, if the resource manager permits preemption: those whose end loses the
// least work. Pure: no I/O, no clock.
#pragma once

#include "base/expected.hpp"
#include "sched/place.hpp"
#include "sched/search/budget.hpp"

#include <cstdint>
#include <vector>

namespace sched {

// A running job that may be preempted as a whole.
struct Preemptee {
    // Those of its hosts that become free once it and all other candidates on them have ended.
    std::vector<std::uint32_t> hosts;
    // The manager's order: while jobs of a lower order make enough room, none of a higher one is preempted.
    std::uint32_t order = 0;
    // The work lost with it: node-seconds since its newest checkpoint, over all its nodes.
    std::uint64_t risk = 0;
};

struct Preemption {
    std::vector<std::uint32_t> jobs; // indices of the preempted candidates, ascending; empty: none is needed
    std::uint64_t risk = 0;          // sum for these jobs
    std::uint32_t considered = 0;    // number of candidates considered: those of the orders needed
    Placement placement;             // on hosts that are free or held by these jobs
    // No other set of the considered jobs makes room at a lower risk. Otherwise none of these can be left
    // out.
    bool exact = true;
};

// `snapshot`: the current state, hosts of candidates busy, none mixed. For a range of nodes the minimum
// counts. Hosts kept for restarts are not used by the gang, and no job is preempted just to have them. The
// set of jobs is as cheap as possible; within what is free then, place() chooses the hosts. Errors: those of
// place() with all candidates gone.
//
// For gangs without segments, required hosts or hosts kept for restarts, on hosts that no two candidates
// share, it is a covering knapsack in each part that the span allows, exact in candidates × nodes steps.
// Otherwise jobs are given back, the most expensive first, while the gang still fits; for up to 16 jobs all
// subsets are tried. The cost is spent from `budget`; when that is used up, the best set so far is taken.
base::Expected<Preemption> preempt(const Placer& placer, const Snapshot& snapshot, const Request& request,
                                   const std::vector<Preemptee>& candidates, Budget& budget);

} // namespace sched
