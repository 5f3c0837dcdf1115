// Which switches belong to one network, before tiers, rails and units are known. Internal to src/topo/read.
#pragma once

#include "topo/fabric.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace topo {

// A device of hosts that have the same devices.
struct ClassDevice {
    std::size_t hosts = 0;              // a number shared by such hosts
    std::map<int, std::size_t> on_leaf; // switch → HCAs
};

// For each switch a number shared within its network. Links connect switches, except those of one switch to
// one other between two parts if every device has at most a tenth of its HCAs on one side, and these are at
// most a tenth of all there, while hosts have HCAs on both: such links should not exist. With more than 64
// devices no cable is judged. O((links + switches) x devices).
std::vector<int> networks_of(const Fabric& fabric, const std::vector<ClassDevice>& devices);

} // namespace topo
