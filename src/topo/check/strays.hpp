// Cables between switches that the tree has no place for. Internal to src/topo/check.
#pragma once

#include "topo/check/check.hpp"

#include <optional>
#include <vector>

namespace topo::checks {

// By switch the network that it is of: a leaf by what most of its HCAs are for, any other by what most of its
// links to the tier below lead to; nothing where less than two thirds are for one.
std::vector<std::optional<Role>> roles_of(const Fabric& fabric);

// Links of a switch to itself, and between switches of one tier where few of that tier have such links,
// between leaves that have four times as many uplinks, or in a pod where most such links lead to other pods.
// On spines of a Dragonfly+ or back to back, and on leaves without spines, they are the network itself. And
// links between a switch of the compute network and one of storage, where most links of either are in its
// own, or a leaf has no others and eight HCAs to each. Ascending.
std::vector<std::size_t> stray_links(const Fabric& fabric);

// Links between pods that are lacking where no core joins these (Dragonfly+).
void globals(const Fabric& fabric, std::vector<Finding>& findings);

} // namespace topo::checks
