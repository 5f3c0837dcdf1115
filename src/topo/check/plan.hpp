// How a unit's cables should run, derived from the majority of its own hosts. Internal to src/topo/check.
#pragma once

#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace topo::checks {

// One port of a rail, and its leaf for most hosts of the unit.
struct Lane {
    int port = none; // none: the lowest port of the HCA that has a link
    int leaf = none;
};

// O(n log n) for hosts that use several ports of an HCA, O(n) for others.
class Plan {
public:
    explicit Plan(const Fabric& fabric);

    // Empty if the unit has no such rail; several if its HCAs use several ports.
    const std::vector<Lane>& lanes(int unit, int rail) const;

    // The port of an HCA that should be connected to the lane's leaf; nullptr if it has no link.
    static const HcaPort* port(const Host& host, const Hca& hca, const Lane& lane);

    // The unit to which most HCAs on a leaf belong; none if it has no HCAs.
    int unit_of(int leaf) const;
    // The rails that a leaf carries according to that unit's plan: "rail 3", "rails 0, 1"; "no rail".
    std::string rails_of(int leaf) const;

private:
    std::size_t rails_;
    std::vector<std::vector<Lane>> lanes_; // [unit * rails + rail]
    std::vector<int> owners_;              // by switch
};

} // namespace topo::checks
