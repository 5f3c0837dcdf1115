// HCAs whose descriptions do not say of which host they are, and of which they probably are: of one that
// hangs on the same port of each of its unit's leaves. Internal to src/topo/check.
#pragma once

#include "topo/check/plan.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace topo::checks {

// HCAs without a host on equal ports of a unit's leaves.
struct ProbableHost {
    int unit = none;
    int port = none;
    int owner = none;                      // the host that has its other cables on that port
    std::vector<std::pair<int, int>> hcas; // host of one HCA, rail; ascending by rail
};

// Leaves on which no HCA names a host, and which are probably of one unit by their names.
struct NamelessUnit {
    std::vector<int> leaves;  // ascending
    std::set<int> ports = {}; // that HCAs are plugged into: a host each
    std::size_t hcas = 0;
};

class Nameless {
public:
    Nameless(const Fabric& fabric, const Plan& plan);

    // Ascending by unit and port.
    const std::vector<ProbableHost>& hosts() const { return hosts_; }
    // Units of which no host has a name. Not known where rails share leaves, or where the leaves of other
    // units are not named alike.
    const std::vector<NamelessUnit>& units() const { return units_; }
    // Hosts of the unit that are seen without a name, with at least half of its rails.
    std::size_t whole(int unit) const;
    // An HCA without a name hangs where the cable of that rail of the host should be.
    bool stands_for(const Fabric& fabric, int host, int rail) const;
    // The numbers of the unit's hosts without a name, by the order of its ports; none where they keep no
    // order.
    std::vector<std::uint32_t> numbers(int unit) const;

private:
    // The number of a host, times its ports on a leaf, is its first port and the offset.
    struct Order {
        int ports = 0; // 0: no order is kept
        std::int64_t offset = 0;
    };

    std::vector<ProbableHost> hosts_;
    std::vector<NamelessUnit> units_;
    std::vector<std::size_t> whole_; // by unit
    std::vector<Order> orders_;      // by unit
    std::vector<int> ports_;         // usual port of each host on its unit's leaves; none: of no port
    std::vector<char> in_order_;     // by unit: its hosts have equal ports on all leaves
    std::vector<int> balance_;       // by leaf: HCAs of no whole host without a name less links that lack
    std::map<std::pair<int, int>, int> on_port_; // leaf, port → host of an HCA without a name
};

} // namespace topo::checks
