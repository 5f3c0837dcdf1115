// The ports seen by a sweep of the fabric, for the sweep of counters and the comparison of links. Pure.
#pragma once

#include "base/expected.hpp"
#include "restart/watch/fabric/counter_sweep.hpp"
#include "topo/fabric.hpp"
#include "topo/read/raw_fabric.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace restart {

struct SeenEnd {
    topo::Guid node = 0;
    topo::Guid peer = 0; // node at the other end; 0: none
    std::uint32_t mbps = 0;
    std::uint16_t lid = 0; // for a switch port that of the switch; 0: cannot be queried
    std::uint8_t port = 0;
    std::uint8_t peer_port = 0;
    bool active = false;
    bool operator==(const SeenEnd&) const = default;
};

// The ends of switches and HCAs.
std::vector<SeenEnd> seen_ends(const topo::RawFabric& swept);

// The same for seen ports as for readings (port_counters.hpp).
std::string to_bytes(std::span<const SeenEnd> ends);
base::Expected<std::vector<SeenEnd>> ends_from(std::string_view bytes);

// The ports that can be queried: they have a LID. `abilities` are those of devices queried before.
std::vector<CounterTarget> targets_of(std::span<const SeenEnd> ends,
                                      const std::unordered_map<topo::Guid, std::uint8_t>& abilities);

} // namespace restart
