// Nodes and links of texts that tell a link by its two ends, and some nodes by their peers alone: what such
// readers share. Internal to src/topo/read.
#pragma once

#include "topo/read/raw_fabric.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace topo {

class TextNodes {
public:
    // What an HCA is known by in the end: the GUID it was added with, or that of its lowest port.
    enum class HcaGuid : std::uint8_t { as_added, of_port };
    explicit TextNodes(RawFabric& fabric, HcaGuid hca_guid = HcaGuid::of_port)
        : fabric_(fabric), hca_guid_(hca_guid) {}

    // A node of its own, by the index it has in RawFabric::nodes. `guid` is that of a switch, or of the HCA's
    // port `number`; 0 where the text has none: one is made of the description and the LID.
    std::size_t add(RawNode::Kind kind, Guid guid, std::string description, std::uint32_t line,
                    std::uint16_t lid = 0);
    // The node that has this GUID of a switch or port.
    std::optional<std::size_t> find(Guid guid) const;
    // The HCA of which a peer tells, found or added. A second port of the same device, by its description, is
    // one of the same HCA.
    std::size_t hca(Guid guid, const std::string& description, std::uint8_t number, std::uint16_t lid,
                    std::uint32_t line);
    // That port of a node, found or added.
    RawPort& port(std::size_t node, std::uint8_t number, std::uint32_t line);
    bool has_port(std::size_t node, std::uint8_t number) const;
    // Another GUID by which the node is found: of its port `number`.
    void know(std::size_t node, std::uint8_t number, Guid guid);
    void lead(std::size_t node, std::uint8_t number, std::size_t peer, std::uint8_t peer_number);

    // GUIDs of nodes and peers, numbers of ports. Once, at the end.
    void finish();

private:
    struct Lead {
        std::size_t node, port, peer;
    };
    RawFabric& fabric_;
    HcaGuid hca_guid_;
    std::unordered_map<Guid, std::size_t> by_guid_;
    std::unordered_map<std::uint64_t, std::size_t> ports_; // node and number → index into RawNode::seen
    std::unordered_map<std::string, std::vector<std::size_t>> told_; // HCAs by description, added by hca()
    std::vector<Lead> leads_;
};

} // namespace topo
