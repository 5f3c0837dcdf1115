// HCAs whose descriptions do not say of which host they are, and of which they probably are: of one that
// hangs on the same port of each of its unit's leaves. Internal to src/topo/check.
#pragma once

#include "topo/check/plan.hpp"
#include "topo/fabric.hpp"

#include <map>
#include <optional>
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

class Nameless {
public:
    Nameless(const Fabric& fabric, const Plan& plan);

    // Ascending by unit and port.
    const std::vector<ProbableHost>& hosts() const { return hosts_; }
    // HCAs on no leaf of a unit.
    const std::vector<int>& others() const { return others_; }
    // Hosts of the unit that are seen without a name, with at least half of its rails.
    std::size_t whole(int unit) const;
    // An HCA without a name hangs where the cable of that rail of the host should be.
    bool stands_for(const Fabric& fabric, int host, int rail) const;
    // One without a name hangs where the host of that number would, by the order of the unit's ports.
    bool numbered_so(int unit, std::uint32_t number) const;

private:
    std::vector<ProbableHost> hosts_;
    std::vector<int> others_;
    std::vector<std::size_t> whole_;                   // by unit
    std::vector<std::optional<std::int64_t>> offsets_; // by unit: number of a host less its port
    std::vector<int> ports_;     // usual port of each host on its unit's leaves; none: of no port
    std::vector<char> in_order_; // by unit: its hosts have equal ports on all leaves
    std::vector<int> balance_;   // by leaf: HCAs without a name less hosts that lack a link
    std::map<std::pair<int, int>, int> on_port_; // leaf, port → host of an HCA without a name
};

} // namespace topo::checks
