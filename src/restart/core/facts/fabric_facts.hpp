// What incidents need from the fabric file: which ports of hosts share a leaf switch, and which links a
// switch has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace restart {

struct HostPort {
    std::string component; // as the file names it: "mlx5_3:1"; findings may name it differently (PortName)
    int rail = -1;         // -1: on no rail
    std::string leaf;      // the switch at its other end; empty: none
    std::string peer;      // or the host's port there: "n002 mlx5_0:1"; empty: none
    bool operator==(const HostPort&) const = default;
};

struct SwitchState {
    int tier = 0;            // 0: leaf, 1: spine, above: core
    std::string pod;         // empty: in none
    std::uint32_t links = 0; // to hosts and switches
    // Those that the last sweep saw down: "n003 mlx5_3:1", or "sw1 port 5 - sw9 port 2" where both ends are
    // switches. Sorted.
    std::vector<std::string> down;
    bool operator==(const SwitchState&) const = default;
};

} // namespace restart
