// The names by which the ends of links go between fabricwatchd, agents and restartd, which all read the same
// fabric file.
#pragma once

#include "topo/fabric.hpp"

#include <string>

namespace topo {

// A port as an agent's findings name it: "mlx5_3:1".
std::string component_of(const Hca& hca, const HcaPort& port);

// The host's or the switch's name, of a switch without one its GUID; at most 120 characters, blanks as '_'.
std::string device_of(const Fabric& fabric, const End& end);

// The port there: component_of() of a host's, the number of a switch's.
std::string port_of(const Fabric& fabric, const End& end);

} // namespace topo
