// Which running jobs a gang takes the place of, where the resource manager lets it: those whose end loses the
// least work. Pure: no I/O, no clock.
#pragma once

#include "base/expected.hpp"
#include "sched/place.hpp"
#include "sched/search/budget.hpp"

#include <cstdint>
#include <vector>

namespace sched {

// A running job that may be preempted, whole.
struct Preemptee {
    // Of its hosts those that become free once it and all other candidates on them have gone.
    std::vector<std::uint32_t> hosts;
    // The manager's order: while those of a lower one make room enough, none of a higher one goes.
    std::uint32_t order = 0;
    // What is lost with it: node-seconds since its newest checkpoint, of all its nodes.
    std::uint64_t risk = 0;
};

struct Preemption {
    std::vector<std::uint32_t> jobs; // indices of the candidates that go, ascending; empty: none needs to
    std::uint64_t risk = 0;          // their sum
    std::uint32_t considered = 0;    // candidates of which these are chosen: those whose order does
    Placement placement;             // on hosts that are free and those that these jobs have
    // No other jobs of those considered make room for less risk. Otherwise none of these can be spared.
    bool exact = true;
};

// `snapshot`: as things are, hosts of candidates busy, none mixed. Of a request for a range of nodes the
// least counts. Hosts kept for restarts stay free of the gang, and nobody goes for the sake of having them.
// Jobs go as cheaply as can be; where the gang then lies best is place()'s choice among what is free then.
// Errors: those of place() with all candidates gone.
//
// Gangs without segments, required hosts or hosts kept for restarts, on hosts that no two candidates share,
// are a covering knapsack in each part that the span allows, exact in candidates × nodes steps. Otherwise
// jobs are given back, dearest first, while the gang still fits; for up to 16 of them all sets are tried.
// What it costs is spent of `budget`; when that ends, the best set so far is taken.
base::Expected<Preemption> preempt(const Placer& placer, const Snapshot& snapshot, const Request& request,
                                   const std::vector<Preemptee>& candidates, Budget& budget);

} // namespace sched
