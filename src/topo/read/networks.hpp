// Which switches are one network, before tiers, rails and units are known. Internal to src/topo/read.
#pragma once

#include "topo/fabric.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace topo {

// By switch a number that those of one network share. Links join switches, but for a single cable between two
// parts of which no device has a tenth of its HCAs in both: that one should not be there. `on_leaf`: for each
// device how many of its HCAs are on each switch. Of more than 64 devices no cable is judged. O(links +
// switches x devices).
std::vector<int> networks_of(const Fabric& fabric, const std::vector<std::map<int, std::size_t>>& on_leaf);

} // namespace topo
