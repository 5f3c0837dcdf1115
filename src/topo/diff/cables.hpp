// Which cables stayed, moved, came and went. Internal to src/topo/diff.
//
// A port holds at most one cable before and one after. So the cables that are not the same in both make up
// chains and rings, in which old and new cables alternate at the ports they share: a ring is cables that
// changed places among each other; an old and a new cable that share a port are one cable, moved.
#pragma once

#include "topo/diff/match.hpp"
#include "topo/fabric.hpp"

#include <vector>

namespace topo::drift {

// One end of the cable stayed, the other went elsewhere.
struct Move {
    int old_link = none, new_link = none; // indices into Fabric::links of before and after
    End stays;                            // in after
    End from;                             // in before
    End to;                               // in after
};

struct Cables {
    std::vector<std::pair<int, int>> same; // old and new link with the same ends
    std::vector<Move> moves;
    std::vector<std::vector<Move>> rings; // each cable goes to where the next one was
    std::vector<int> gone;                // links of before
    std::vector<int> fresh;               // links of after
};

// Cables of hosts, HCAs and switches that came or went themselves are in none of these, unless their other
// end was moved. O(n).
Cables compare_cables(const Fabric& before, const Fabric& after, const Match& match);

} // namespace topo::drift
