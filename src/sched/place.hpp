// sched::place: which hosts a gang gets, in which order, and why. Pure: no I/O, no clock, no Slurm types.
//
// The objective, lexicographic (most important first):
//   1 all nodes at once; required in, excluded and unhealthy (health 0) out; the span is kept
//   2 smallest top tier (one unit, one pod, then the fabric)   3 fewest pods   4 fewest units
//   5 rail alignment   6 soft avoidance (sum of 1 - health)    7 least fragmentation left behind: tightest
//   fit, whole free units are spared   8 stable order: lowest host index
// Deterministic. Host indices are those of the fabric.
#pragma once

#include "base/expected.hpp"
#include "sched/request.hpp"
#include "sched/snapshot.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sched {

struct Score {
    std::uint32_t tier = 0;          // 0 one unit, 1 one pod, 2 more
    std::uint32_t pods = 0;
    std::uint32_t units = 0;
    std::uint32_t misaligned_rails = 0; // rails whose HCAs do not all meet within `tier`
    double avoidance = 0;            // sum over the hosts of 1 - health
    std::uint32_t broken_units = 0;  // wholly free units of which a part was taken
    std::uint32_t left_over = 0;     // free hosts left in the units that were touched
};

struct Placement {
    std::vector<std::uint32_t> hosts; // in rank order
    Score score;
    std::vector<std::string> reasons; // why here: sentences for people
};

// Errors: Code::unfit with the sentence that says what blocks the job; Code::usage for a request that
// contradicts itself (nodes 0, a host both required and excluded).
base::Expected<Placement> place(const topo::Fabric& fabric, const Snapshot& snapshot, const Request& request);

} // namespace sched
