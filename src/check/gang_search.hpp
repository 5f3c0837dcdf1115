// Finds the host or rail of a gang that slows a collective operation: by bisection, in runs of parts of the
// gang. Pure: the caller runs the operation, whatever it is (NCCL, MPI).
#pragma once

#include "base/expected.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace check {

// A run of these members (ascending, at least two), over one rail or over all rails.
struct GangRun {
    std::vector<std::size_t> members;
    std::optional<int> rail;
};
// What the run reached, in the unit of the expected value; higher is better. An error is recorded and counts
// as slow, so that a failing member is found in the same way.
using RunGang = std::function<base::Expected<double>(const GangRun&)>;

struct GangPlan {
    std::size_t members = 0;
    int rails = 0;         // 0: rails are not examined separately
    double least = 0;      // what a sound gang reaches, with any number of members from two
    double least_rail = 0; // the same over one rail
};

struct GangVerdict {
    std::vector<std::size_t>
        slow; // members that are slow with a fast one, and were again at the end; ascending
    std::map<std::size_t, std::vector<int>>
        rails_of;           // the slow rails of a slow member, if not all of its rails are slow
    std::vector<int> rails; // slow for the gang as a whole, without a slow member
    bool all = false;       // no two members were fast together: no slow one can be singled out
    bool together = false;  // slow only all together: check what they share
    int runs = 0;
    std::string error; // of the last run that failed; empty: none failed
};

// One run for a sound gang; with one slow member of n at most 2 log2(n) + 4 runs, and one more for each rail.
// Each further slow member costs the same again.
GangVerdict find_slow(const GangPlan& plan, const RunGang& run);

} // namespace check
