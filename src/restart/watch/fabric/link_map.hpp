// The links of the fabric file, each with both ends, where it is and whose jobs run over it. Pure.
#pragma once

#include "topo/fabric.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace restart {

struct WatchedEnd {
    topo::Guid node = 0;
    std::uint8_t port = 0;
    std::string device, port_name; // as topo/end_names.hpp has them
    int host = topo::none;         // index into the file's hosts; none: a switch
    int level = 0;                 // -1: an HCA; of a switch its tier, a leaf's is 0
    bool operator==(const WatchedEnd&) const = default;
};

struct WatchedLink {
    std::array<WatchedEnd, 2> ends;
    double gbps = 0;       // signalling rate by the file; 0: not known
    int rail = topo::none; // of a link above leaves that of its leaf
    std::string unit;      // of a host's link; else empty
    std::string pod;       // empty: of none
    bool operator==(const WatchedLink&) const = default;
};

class LinkMap {
public:
    // `file`: derived. Links without GUIDs of devices at both ends cannot be seen and are left out.
    explicit LinkMap(const topo::Fabric& file);

    const std::vector<WatchedLink>& links() const { return links_; }

    // The link that the file knows at this port, and which of its ends that is.
    std::optional<std::pair<std::size_t, std::size_t>> find(topo::Guid node, std::uint8_t port) const;

    // Whether it is a switch or an HCA of the file.
    bool knows(topo::Guid node) const { return names_.contains(node); }

    // What a device is called: "n003 mlx5_3", "sw1", or its GUID where the file does not know it.
    std::string name_of(topo::Guid node) const;

    // Hosts whose traffic goes through the link: the host at its end; behind a leaf those on it; above that
    // those of its pod. Folded; of names that do not fold only the first, in 1,000 characters.
    std::string hosts_of(std::size_t link) const;

    // Host names as findings have them: sorted, each once, folded, as many as a report carries.
    static std::string folded(std::vector<std::string> hosts);

    // "n003 mlx5_1:1", "leaf1 port 3".
    std::string end_name(std::size_t link, std::size_t side) const;

    bool operator==(const LinkMap&) const = default;

private:
    std::vector<WatchedLink> links_;
    std::unordered_map<topo::Guid, std::unordered_map<std::uint8_t, std::pair<std::size_t, std::size_t>>>
        ends_;
    std::unordered_map<topo::Guid, std::string> names_;
    std::unordered_map<topo::Guid, std::vector<std::string>> behind_; // leaves
    std::unordered_map<std::string, std::vector<std::string>> in_pod_;
};

} // namespace restart
