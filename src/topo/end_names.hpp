// The names of link ends exchanged by fabricwatchd, agents and restartd, which all read the same fabric file.
#pragma once

#include "topo/fabric.hpp"

#include <string>

namespace topo {

// A port as named in an agent's findings: "mlx5_3:1".
std::string component_of(const Hca& hca, const HcaPort& port);

// The name of the host or switch, or its GUID for a switch without a name; at most 120 characters, with '_'
// for blanks.
std::string device_of(const Fabric& fabric, const End& end);

// The port there: component_of() for a host's, the number for a switch's.
std::string port_of(const Fabric& fabric, const End& end);

} // namespace topo
