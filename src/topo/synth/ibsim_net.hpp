// Net files for ibsim, the InfiniBand simulator: the fabric as a network on which real tools can run.
#pragma once

#include "topo/fabric.hpp"

#include <string>

namespace topo {

// Every HCA is a Ca node with the description "HOST DEVICE", so ibnetdiscover shows it like a real fabric.
// ibsim 0.10 supports rates up to HDR; faster links are written as HDR with the same width. Links that are
// down are left out. The head of the file gives the limits with which ibsim must be started.
std::string print_ibsim_net(const Fabric& fabric);

// The options -N -S -P that ibsim needs for this fabric: "-N 146 -S 34 -P 2048".
std::string ibsim_limits(const Fabric& fabric);

} // namespace topo
