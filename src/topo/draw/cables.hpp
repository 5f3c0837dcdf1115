// What is plugged into the ports, as a table or JSON.
#pragma once

#include "topo/fabric.hpp"

#include <string>

namespace topo {

// A line for each end of a link whose module is known, by host and port, switches last.
std::string show_cables(const Fabric& fabric);
std::string show_cables_json(const Fabric& fabric);

} // namespace topo
