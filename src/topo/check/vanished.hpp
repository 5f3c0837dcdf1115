// Spines and cores that are not there. Internal to src/topo/check.
#pragma once

#include "topo/fabric.hpp"

#include <vector>

namespace topo::checks {

// Switches of one tier that have no uplink at all, two or more of a pod's leaves or of a higher tier, where
// as many others lead to one switch each, and one in their pod: what they led to is not there. Ascending.
std::vector<int> cut_off(const Fabric& fabric);

} // namespace topo::checks
