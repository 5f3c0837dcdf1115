// Cables between switches that the tree has no place for. Internal to src/topo/check.
#pragma once

#include "topo/check/check.hpp"

#include <vector>

namespace topo::checks {

// Links of a switch to itself, and between switches of one tier where few of that tier have such links, or
// between leaves that have four times as many uplinks. On spines of a Dragonfly+ or back to back, and on
// leaves without spines, they are the network itself. And links of a leaf to a spine of the other network,
// compute or storage, where most of the leaf's lead into its own. Ascending.
std::vector<std::size_t> stray_links(const Fabric& fabric);

// Links between pods that are lacking where no core joins these (Dragonfly+).
void globals(const Fabric& fabric, std::vector<Finding>& findings);

} // namespace topo::checks
