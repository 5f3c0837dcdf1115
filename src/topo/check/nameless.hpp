// HCAs whose descriptions do not identify their host, and the host to which they probably belong: such HCAs
// are on the same port of each of the unit's leaves. Internal to src/topo/check.
#pragma once

#include "topo/check/plan.hpp"
#include "topo/check/unnamed.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace topo::checks {

// HCAs without a host on the same port of a unit's leaves.
struct ProbableHost {
    int unit = none;
    int port = none;
    int owner = none;                      // the host whose other cables are on that port
    std::vector<std::pair<int, int>> hcas; // single-HCA host, rail; ascending by rail
};

class Nameless {
public:
    Nameless(const Fabric& fabric, const Plan& plan);

    // Ascending by unit and port.
    const std::vector<ProbableHost>& hosts() const { return hosts_; }
    // Those of which no host has a name.
    const std::vector<UnnamedUnit>& units() const { return units_; }
    // Hosts of the unit that are seen without a name, with at least half of its rails.
    std::size_t whole(int unit) const;
    // Whether an HCA without a name is where this host's cable for that rail should be.
    bool stands_for(const Fabric& fabric, int host, int rail) const;
    // The numbers of the unit's hosts without a name, derived from the order of its ports; none if they have
    // no order.
    std::vector<std::uint32_t> numbers(int unit) const;

private:
    // A host's number times its ports on a leaf equals its first port plus the offset.
    struct Order {
        int ports = 0; // 0: there is no order
        std::int64_t offset = 0;
    };

    std::vector<ProbableHost> hosts_;
    std::vector<UnnamedUnit> units_;
    std::vector<std::size_t> whole_; // by unit
    std::vector<Order> orders_;      // by unit
    std::vector<int> ports_;         // usual port of each host on its unit's leaves; none: there is none
    std::vector<char> in_order_;     // by unit: its hosts use the same port on all leaves
    std::vector<int> balance_;       // by leaf: HCAs without a name or whole host, less missing links
    std::map<std::pair<int, int>, int> on_port_; // leaf, port → host of an HCA without a name
};

} // namespace topo::checks
