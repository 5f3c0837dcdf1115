// How far apart hosts are, rail by rail, in fabrics of any shape.
#pragma once

#include "topo/fabric.hpp"

#include <cstdint>
#include <vector>

namespace topo {

// Distance classes: 0 on the same leaf, 1 through a spine (or from leaf to leaf), 2 through a core, and so
// on: half the links between the leaves on the shortest way, rounded up. In a regular tree that is the lowest
// tier in which they meet; where cables are irregular it still counts what traffic must cross. Links that are
// down carry nothing. Hosts do not forward.
//
// Leaves with the same neighbours are as far from everything, so that a fabric is walked through once for
// each pod, or less: O(distinct neighbourhoods × links) time, one byte a switch and neighbourhood.
class Distances {
public:
    explicit Distances(const Fabric& fabric); // which must outlive this

    // Of two leaves; none when they never meet, or one is no leaf.
    int leaves(int a, int b) const;

    // Of two hosts on a rail, by the nearest two ports; none when they never meet or one lacks the rail.
    int hosts(std::uint32_t a, std::uint32_t b, int rail) const;

private:
    const Fabric& fabric_;
    std::vector<int> group_; // by switch: leaves with the same neighbours; none for others
    std::vector<std::vector<std::uint8_t>> links_; // [group][switch]: links on the way; 255 for never
};

} // namespace topo
