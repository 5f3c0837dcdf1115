// Which host of a gang, or which rail, slows a collective operation: by bisection, in runs of parts of the
// gang. Pure: who calls it runs the operation, whatever it is (NCCL, MPI).
#pragma once

#include "base/expected.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace check {

// A run of these members (ascending, two at least), over one rail alone or over all that they have.
struct GangRun {
    std::vector<std::size_t> members;
    std::optional<int> rail;
};
// What they reached, in the unit of what is expected; the more, the better. An error is told, and counts as
// slow: a member that fails is found in the same way.
using RunGang = std::function<base::Expected<double>(const GangRun&)>;

struct GangPlan {
    std::size_t members = 0;
    int rails = 0;         // 0: rails are not told apart
    double least = 0;      // that a sound gang reaches, of any size from two
    double least_rail = 0; // likewise over one rail
};

struct GangVerdict {
    std::vector<std::size_t>
        slow; // members, each slow beside one that is not, and again at the end; ascending
    std::map<std::size_t, std::vector<int>>
        rails_of;           // of a slow member: rails that are slow, where not all are
    std::vector<int> rails; // that are slow for the gang as a whole, without a slow member
    bool all = false;       // no two members were fast together: nobody stands out
    bool together = false;  // all are slow together, and nobody alone: look at what they share
    int runs = 0;
    std::string error; // of the last run that failed; empty: none did
};

// One run for a sound gang; for one slow member of n at most 2 log2(n) + 4 runs, and one more for each rail;
// of several each costs as much.
GangVerdict find_slow(const GangPlan& plan, const RunGang& run);

} // namespace check
