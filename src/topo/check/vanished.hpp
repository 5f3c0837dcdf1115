// Missing spines and cores. Internal to src/topo/check.
#pragma once

#include "topo/fabric.hpp"

#include <vector>

namespace topo::checks {

// Switches of one tier without any uplink, two or more of a pod's leaves or of a higher tier, if at least as
// many others, including one in their pod, lead to one switch each: the switch above them is missing.
// Ascending.
std::vector<int> cut_off(const Fabric& fabric);

} // namespace topo::checks
