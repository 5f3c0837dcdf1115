// The score of hosts chosen elsewhere: by a running job, a recorded placement, another scheduler.
#pragma once

#include "sched/place.hpp"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace sched {

// As place() would score these hosts (distinct indices in any order) for this request in this snapshot, taken
// before the job had them. Only sharing and Request::had of the request matter here: it is not checked
// whether the hosts may be taken, and one that is not free counts like any other. No hosts: all zero.
Score score_of(const PlacementIndex& index, const Snapshot& snapshot, const Request& request,
               const std::vector<std::uint32_t>& hosts);

// The terms in order of importance, lower is better: what programs print and compare.
struct ScoreTerm {
    std::string_view key;   // as in JSON: "broken_units"
    std::string_view words; // for display: "wholly free units broken up"
    double value = 0;
};
std::vector<ScoreTerm> terms_of(const Score& score);

// Below 0 if a is better than b, above 0 if it is worse, 0 if they are equal. Avoidance counts in
// thousandths.
int compare(const Score& a, const Score& b);

} // namespace sched
