// Nodes and links of texts that describe a link by its two ends, and some nodes only through their peers:
// common parts of such readers. Internal to src/topo/read.
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
    // The final identity of an HCA: the GUID with which it was added, or that of its lowest port.
    enum class HcaGuid : std::uint8_t { as_added, of_port };
    explicit TextNodes(RawFabric& fabric, HcaGuid hca_guid = HcaGuid::of_port)
        : fabric_(fabric), hca_guid_(hca_guid) {}

    // Adds a node, and returns its index in RawFabric::nodes. `guid` is that of a switch, or of the HCA's
    // port `number`; 0 if the text has none: one is generated from the description and the LID.
    std::size_t add(RawNode::Kind kind, Guid guid, std::string description, std::uint32_t line,
                    std::uint16_t lid = 0);
    // The node with this GUID of a switch or port.
    std::optional<std::size_t> find(Guid guid) const;
    // The HCA named by a peer, found or added. A second port of the same device, by its description, belongs
    // to the same HCA.
    std::size_t hca(Guid guid, const std::string& description, std::uint8_t number, std::uint16_t lid,
                    std::uint32_t line);
    // That port of a node, found or added.
    RawPort& port(std::size_t node, std::uint8_t number, std::uint32_t line);
    bool has_port(std::size_t node, std::uint8_t number) const;
    // Adds another GUID by which the node is found: that of its port `number`.
    void know(std::size_t node, std::uint8_t number, Guid guid);
    void lead(std::size_t node, std::uint8_t number, std::size_t peer, std::uint8_t peer_number);

    // Sets GUIDs of nodes and peers, and port numbers. Call once, at the end.
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
