// What changed between two states of a fabric, in the words of those who cable it.
#pragma once

#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace topo {

struct Change {
    std::string code;              // railtopo(1) lists them: "cable.swapped"
    std::vector<std::string> ends; // what it is about: "n002 mlx5_1/1", "leaf-su1-r2/9", "n003", "su4"
    std::string text;              // one sentence
};

// Both fabrics must be derived. One fault gives one change: what follows from it (the links of a host that is
// gone, units renumbered, the unit of a host that was moved) is not reported again. Sorted by code, then
// first end; the order of hosts, switches and links in either fabric does not matter.
//
// Things are known by GUID. A switch with another GUID is the old one replaced if it has the old one's name,
// or its cables; an HCA, if it is the same device or rail of the same host; a host is the one that most of
// its HCAs were in, or, if all are new, the one of that name. Cables are known by their ends.
//
// LIDs, port GUIDs and where a fabric came from are not compared; nor is what one of the two does not know:
// states, rates, PCI and NUMA places. O(n log n) in hosts, switches and links.
std::vector<Change> diff(const Fabric& before, const Fabric& after);

} // namespace topo
