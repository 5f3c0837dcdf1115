// Net files of ibsim, the InfiniBand simulator: the fabric as a network that real tools can be run on.
#pragma once

#include "topo/fabric.hpp"

#include <string>

namespace topo {

// Every HCA is a Ca node described "HOST DEVICE", so that ibnetdiscover shows it as a real fabric would.
// ibsim 0.10 knows rates up to HDR; faster links are written as HDR of the same width. Links that are down
// are left out. The head of the file says with which limits ibsim must be started.
std::string print_ibsim_net(const Fabric& fabric);

// The options -N -S -P that ibsim needs for this fabric: "-N 146 -S 34 -P 2048".
std::string ibsim_limits(const Fabric& fabric);

} // namespace topo
