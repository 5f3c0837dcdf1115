// What changed between two states of a fabric, in terms of cabling.
#pragma once

#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace topo {

struct Change {
    std::string code;              // listed in railtopo(1): "cable.swapped"
    std::vector<std::string> ends; // affected parts: "n002 mlx5_1/1", "leaf-su1-r2/9", "n003", "su4"
    std::string text;              // one sentence
};

// Both fabrics must be derived. One fault gives one change: its consequences (the links of a host that is
// gone, units renumbered, the unit of a host that was moved) are not reported again. Sorted by code, then
// first end; the order of hosts, switches and links in either fabric does not matter.
//
// Things are identified by GUID. A switch with another GUID is a replacement if it has the old one's name, or
// its cables; an HCA, if it is the same device or rail of the same host. A host is the one that contained
// most of its HCAs or, if all are new, the one of that name. Cables are identified by their ends.
//
// LIDs, port GUIDs and the source of a fabric are not compared; nor is what is unknown in one of the two:
// states, rates, PCI and NUMA places. O(n log n) in hosts, switches and links.
std::vector<Change> diff(const Fabric& before, const Fabric& after);

} // namespace topo
