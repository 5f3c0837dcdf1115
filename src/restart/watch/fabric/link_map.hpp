// The links of the fabric file, each with both ends, its location and the hosts whose jobs use it. Pure.
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
    std::string device, port_name; // as in topo/end_names.hpp
    int host = topo::none;         // index into the file's hosts; none: a switch
    int level = 0;                 // -1: an HCA; a switch: its tier, 0 for a leaf
    bool operator==(const WatchedEnd&) const = default;
};

struct WatchedLink {
    std::array<WatchedEnd, 2> ends;
    double gbps = 0;       // signalling rate from the file; 0: unknown
    int rail = topo::none; // for a link above leaves the rail of its leaf
    std::string unit;      // of a host's link; else empty
    std::string pod;       // empty: none
    bool operator==(const WatchedLink&) const = default;
};

class LinkMap {
public:
    // `file`: derived. Links without device GUIDs at both ends cannot be seen and are left out.
    explicit LinkMap(const topo::Fabric& file);

    const std::vector<WatchedLink>& links() const { return links_; }

    // The link of the file at this port, and which of its ends that is.
    std::optional<std::pair<std::size_t, std::size_t>> find(topo::Guid node, std::uint8_t port) const;

    // Whether the file has this switch or HCA.
    bool knows(topo::Guid node) const { return names_.contains(node); }

    // The name of a device: "n003 mlx5_3", "sw1", or its GUID if the file does not have it.
    std::string name_of(topo::Guid node) const;

    // Hosts whose traffic uses the link: the host at its end; for a link above a leaf the hosts on that leaf;
    // above that those of its pod. Folded; if names cannot be folded only the first, in 1,000 characters.
    std::string hosts_of(std::size_t link) const;

    // Host names as in findings: sorted, without duplicates, folded, as many as fit in a report.
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
