// The usual cabling of storage HCAs, if most hosts with similar names agree. Internal to src/topo/check.
#pragma once

#include "topo/check/absent.hpp"
#include "topo/fabric.hpp"

#include <map>
#include <string>
#include <vector>

namespace topo::checks {

// A storage HCA, and the leaf of the same HCAs of hosts with neighbouring numbers.
struct StorageCable {
    int host = none, hca = none; // hca: none if the host has no such HCA or no cable on it
    int leaf = none;             // where it should be
    std::string device;
};

struct StoragePlan {
    std::vector<StorageCable> misplaced; // on another switch
    std::vector<StorageCable> missing;
    std::map<std::string, Names> leaves; // by device: a storage leaf that is not seen
};

// Devices of fewer than four hosts are not judged, nor those whose hosts are not cabled in numerical order.
// If more than a quarter of the hosts lack a device, they were built like this, unless they are all adjacent
// and a leaf is not seen. O(n log n).
StoragePlan judge_storage(const Fabric& fabric);

} // namespace topo::checks
