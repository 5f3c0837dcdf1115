// Which switches are one network, before tiers, rails and units are known. Internal to src/topo/read.
#pragma once

#include "topo/fabric.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace topo {

// A device of hosts that have the same devices.
struct ClassDevice {
    std::size_t hosts = 0;              // a number that such hosts share
    std::map<int, std::size_t> on_leaf; // switch → HCAs
};

// By switch a number that those of one network share. Links join switches, but for those of one switch to one
// other between two parts where no device has a tenth of its HCAs, or of a part's, on the side on which it
// has fewer, though hosts have HCAs on either: they should not be there. Of more than 64 devices no cable is
// judged. O((links + switches) x devices).
std::vector<int> networks_of(const Fabric& fabric, const std::vector<ClassDevice>& devices);

} // namespace topo
