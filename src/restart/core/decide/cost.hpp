// The cost of leaving a job where it runs slowly, compared with the cost of moving it, in node-hours. Pure.
//
//     waiting = slowdown x the time it still runs x nodes
//     moving  = (save + requeue + restart + lost work) x nodes
//
// The time that it still runs is what is left of its time limit, or a horizon if it has none. A job that can
// save before it is moved loses no work; one that cannot loses its work since the last checkpoint. What has
// not been measured has a default, and each term names its source.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// A part of the cost of moving.
struct CostTerm {
    std::string_view name; // "save"
    base::Duration time{}; // of each node
    std::string from;      // "measured", "as 3 restarts of its name took on average"
};

struct JobCost {
    double slowdown = 0;   // share of its work, 0 … 1
    std::string slowed_by; // the finding with the largest slowdown
    std::uint32_t nodes = 0;
    base::Duration stays{};      // how long it still runs where it is
    std::string stays_from;      // "its time limit", "[restart] horizon"
    std::vector<CostTerm> terms; // of moving, in this order: save, requeue, restart, lost work

    double node_hours(base::Duration time) const; // of all its nodes
    double waiting() const;                       // node-hours
    double moving() const;                        // node-hours
    // Whether leaving it there is cheaper. If both cost the same it stays.
    bool waits() const { return waiting() <= moving(); }
};

// `slowdown` from the findings of its hosts that ask to move it; `state` has what other moves and starts
// took. Cost: O(1), and the logarithm of the number of known programs.
JobCost cost_of(const JobState& job, double slowdown, std::string slowed_by, const State& state,
                const Policy& policy, base::Time now);

// "waiting costs 1.2 node-hours (2 % of 32 nodes for 1.9 h), moving 9.6 (save 0.5, requeue 0.1, restart 1.0,
// lost work 8.0)"
std::string sentence(const JobCost& cost);

} // namespace restart
