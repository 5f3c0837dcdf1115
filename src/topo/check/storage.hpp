// How storage HCAs are cabled where most hosts named alike agree. Internal to src/topo/check.
#pragma once

#include "topo/check/absent.hpp"
#include "topo/fabric.hpp"

#include <map>
#include <string>
#include <vector>

namespace topo::checks {

// A storage HCA, and the leaf on which the same HCAs of the hosts beside it by number are.
struct StorageCable {
    int host = none, hca = none; // hca: none when the host has no such HCA or no cable on it
    int leaf = none;             // where it should be
    std::string device;
};

struct StoragePlan {
    std::vector<StorageCable> misplaced; // on another switch than that
    std::vector<StorageCable> missing;
    std::map<std::string, Names> leaves; // by device, one that is not seen among those of storage
};

// Devices of fewer than four hosts are not judged, nor those whose hosts are not cabled in the order of their
// numbers. Where more than a quarter of the hosts lack a device they were built so, unless they are all
// beside each other and a leaf is not seen. O(n log n).
StoragePlan judge_storage(const Fabric& fabric);

} // namespace topo::checks
