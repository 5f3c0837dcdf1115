// Cables between switches that do not fit a tree. Internal to src/topo/check.
#pragma once

#include "topo/check/check.hpp"

#include <optional>
#include <vector>

namespace topo::checks {

// The network of each switch: of a leaf, by the role of most of its HCAs; of any other, by where most of its
// links to the tier below lead; nothing if less than two thirds agree.
std::vector<std::optional<Role>> roles_of(const Fabric& fabric);

// Links of a switch to itself, and between switches of one tier if few in that tier have such links, between
// leaves with four times as many uplinks, or within a pod if most such links lead to other pods. In a
// Dragonfly+ or between back-to-back spines, and on leaves without spines, they are the network itself. Also
// links between the compute and the storage network, if most links of either switch are in its own, or a leaf
// has no others and eight HCAs for each. Ascending.
std::vector<std::size_t> stray_links(const Fabric& fabric);

// Missing links between pods if no core connects them (Dragonfly+).
void globals(const Fabric& fabric, std::vector<Finding>& findings);

} // namespace topo::checks
