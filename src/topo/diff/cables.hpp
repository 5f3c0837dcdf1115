// Which cables stayed, moved, were added and removed. Internal to src/topo/diff.
//
// A port has at most one cable before and one after. So the cables that differ form chains and rings, in
// which old and new cables alternate at the ports they share: a ring is a set of cables that have exchanged
// places; an old and a new cable that share a port are one cable that was moved.
#pragma once

#include "topo/diff/match.hpp"
#include "topo/fabric.hpp"

#include <vector>

namespace topo::drift {

// One end of the cable stayed, the other was moved.
struct Move {
    int old_link = none, new_link = none; // indices into Fabric::links of before and after
    End stays;                            // in after
    End from;                             // in before
    End to;                               // in after
};

struct Cables {
    std::vector<std::pair<int, int>> same; // old and new link with the same ends
    std::vector<Move> moves;
    std::vector<std::vector<Move>> rings; // each cable moved to where the next one was
    std::vector<int> gone;                // links of before
    std::vector<int> fresh;               // links of after
};

// Cables of hosts, HCAs and switches that were added or removed themselves are in none of these, unless their
// other end was moved. O(n).
Cables compare_cables(const Fabric& before, const Fabric& after, const Match& match);

} // namespace topo::drift
