// The links of the fabric file's hosts as reported by their leaves, one leaf and one port at a time. Pure.
//
// A sweep (fabric_witness.hpp) reads the whole fabric, some seconds late, and is authoritative. Between two
// sweeps a notice names a leaf, and its ports are read at once. Ports that a leaf did not report are
// unchanged; a link counts as up until its leaf reports it down. If a sweep saw the HCA of a link elsewhere,
// the cable was moved, and the port that it left says nothing about the host.
#pragma once

#include "base/expected.hpp"
#include "restart/wire/report.hpp"
#include "topo/fabric.hpp"
#include "topo/read/raw_fabric.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace restart {

// What a sweep knows about reaching leaves: needed to query one, and not in the fabric file.
struct LeafAddresses {
    std::map<topo::Guid, std::uint16_t> lids;            // of the leaves that answered
    std::set<std::pair<topo::Guid, std::uint8_t>> moved; // leaf and port whose HCA is elsewhere now
    bool operator==(const LeafAddresses&) const = default;

    // Conversion to text lines and back. Errors (Code::input) name the line.
    std::string to_text() const;
    static base::Expected<LeafAddresses> from_text(std::string_view text);
};

// The addresses of the file's leaves, from the sweep.
LeafAddresses leaf_addresses(const topo::Fabric& file, const topo::RawFabric& swept);

class LeafLinks {
public:
    struct Port {
        topo::Guid leaf = 0;
        std::uint8_t number = 0;
        bool operator==(const Port&) const = default;
    };

    explicit LeafLinks(const topo::Fabric& file);

    // The ports of a leaf with a host behind them, ascending; empty: none, or not a leaf of the file.
    std::vector<std::uint8_t> ports_of(topo::Guid leaf) const;

    // The leaves' ends of all links of a host, by its name.
    std::vector<Port> ports_of(const std::string& host) const;

    // The host behind a leaf's port; null: none.
    const std::string* host_at(const Port& port) const;

    // Takes the state that the leaf reports for one of its ports. True: it has changed.
    bool take(const Port& port, bool down);

    bool is_down(const Port& port) const;

    // A report of changes for these hosts, from the states taken last.
    FabricReport report(const std::set<std::string>& hosts, const LeafAddresses& addresses) const;

private:
    struct Link {
        std::size_t host = 0;
        bool down = false;
    };
    struct Host {
        std::string name;
        std::uint32_t links = 0; // those that a sweep would count
        std::vector<Port> ports;
    };
    const Link* find(const Port& port) const;

    std::vector<Host> hosts_;
    std::unordered_map<std::string, std::size_t> by_name_;
    std::unordered_map<topo::Guid, std::map<std::uint8_t, Link>> leaves_;
};

} // namespace restart
