// A fabric as read from the wire or a text: nodes with their ports, before the host of each HCA is known.
// Sources fill it (ibnetdiscover.hpp, mad_discover.hpp); assemble.hpp converts it to a Fabric.
#pragma once

#include "topo/fabric.hpp"
#include "topo/rate.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace topo {

struct RawPort {
    std::uint8_t number = 0;
    std::uint8_t peer_port = 0;
    std::uint16_t lid = 0; // of an HCA's port
    LinkState state = LinkState::unknown;
    bool linked = false; // peer and peer_port give the other end
    Rate rate;
    Guid guid = 0;                // port GUID, 0 unknown
    Guid peer = 0;                // node GUID
    std::string peer_description; // from this port's line, printable; empty if it has none
    std::uint32_t line = 0;
};

struct RawNode {
    enum class Kind : std::uint8_t { hca, switch_, other }; // other: routers and in-network aggregation
    Kind kind = Kind::hca;
    Guid guid = 0;
    int ports = 0;
    std::string description;   // printable
    std::vector<RawPort> seen; // ports that are listed
    std::uint32_t line = 0;    // in the text, 0 if live
};

struct RawModule {
    std::size_t node = 0; // index into RawFabric::nodes
    std::uint8_t port = 0;
    Module module;
};

struct RawFabric {
    std::vector<RawNode> nodes;
    std::vector<RawModule> modules;   // the modules in the ports, if the source reports them
    std::string source;               // "ibnetdiscover fabric.txt"; put before a line number in errors
    std::vector<std::string> missing; // sentences: what is known to be missing
};

// A node description for display: base::printable, without white space at the ends.
std::string trimmed_printable(std::string_view description);

// Whether nodes with this description are part of the network, not of a host: SHARP aggregation nodes.
bool is_aggregation(std::string_view description);

} // namespace topo
