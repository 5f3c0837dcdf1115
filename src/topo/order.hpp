// The canonical order of a fabric, so that the order of the input does not affect comparing, printing and
// deriving.
#pragma once

#include "topo/fabric.hpp"

namespace topo {

// Hosts by name (natural order), HCAs of a host by rail with storage last, then device, then GUID; ports by
// number; switches by name, then GUID; in a link the host end first, else the lower switch; links by their
// ends. Link ends are renumbered. O(n log n) in the number of things.
void put_in_order(Fabric& fabric);

} // namespace topo
