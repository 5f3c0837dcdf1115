// Leaves on which no HCA names its host, and the units that they probably are. Internal to src/topo/check.
#pragma once

#include "topo/check/plan.hpp"
#include "topo/fabric.hpp"

#include <vector>

namespace topo::checks {

// A unit none of whose hosts has a name.
struct UnnamedUnit {
    std::vector<int> leaves;              // ascending
    std::vector<std::vector<int>> planes; // the same: leaves on equal ports of which a host is plugged in;
                                          // none where rails share leaves
    std::size_t hosts = 0;                // that is, ports of a plane; else as many as others have HCAs
    std::size_t hcas = 0;
};

// Leaves are of one unit where a number in their names is all in which they differ, and HCAs with several
// ports join planes. Which number that is the units say whose hosts are known; where none is, the names must
// have two numbers that differ, of which the last is the rail's, or call it a rail, or every HCA its device.
// O(n log n).
std::vector<UnnamedUnit> unnamed_units(const Fabric& fabric, const Plan& plan);

// How many pods these are: units under the same spines are one.
std::size_t count_pods(const Fabric& fabric, const std::vector<UnnamedUnit>& units);

} // namespace topo::checks
