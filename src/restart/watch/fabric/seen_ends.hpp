// The ports that a sweep of the fabric saw, as the counters' sweep and the comparison of links need them.
// Pure.
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
    std::uint16_t lid = 0; // of a switch's port its switch's; 0: it cannot be asked
    std::uint8_t port = 0;
    std::uint8_t peer_port = 0;
    bool active = false;
    bool operator==(const SeenEnd&) const = default;
};

// Of switches and HCAs.
std::vector<SeenEnd> seen_ends(const topo::RawFabric& swept);

// As for readings of ports (port_counters.hpp).
std::string to_bytes(std::span<const SeenEnd> ends);
base::Expected<std::vector<SeenEnd>> ends_from(std::string_view bytes);

// Those that can be asked: they have a LID. `abilities` are those of devices asked before.
std::vector<CounterTarget> targets_of(std::span<const SeenEnd> ends,
                                      const std::unordered_map<topo::Guid, std::uint8_t>& abilities);

} // namespace restart
