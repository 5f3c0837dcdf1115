// A fabric as the web page draws it: the body of GET /v1/map (wire(7)). Hosts, units and switches are where
// `railtopo show --svg` has them: it is the same layout (topo/draw/layout.hpp).
#pragma once

#include "topo/fabric.hpp"

#include <string>

namespace restart {

// One JSON text. O(hosts + links); at 16,384 hosts about 2 MB.
std::string fabric_map(const topo::Fabric& fabric);

} // namespace restart
