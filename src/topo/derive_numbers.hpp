// What host numbers show about units if cables do not: neighbours by number, and ports in numerical order.
// Internal to src/topo.
#pragma once

#include "topo/derive_parts.hpp"
#include "topo/numbered_name.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace topo {

// The unit of a host's neighbours by number: hosts are cabled in numerical order nearly everywhere. Uses
// Host::unit.
class Numbering {
public:
    explicit Numbering(const Fabric& fabric);

    // The units of the nearest hosts of the series on both sides, at most `each` on either side; hosts
    // without a unit are skipped.
    Tally around(std::uint32_t h, std::size_t each) const;

    // The unit of the two next hosts on either side, if those beyond do not contradict; none otherwise.
    int between(std::uint32_t h) const;

private:
    bool kin(std::uint32_t h, std::int64_t other) const;

    const Fabric& fabric_;
    std::vector<std::optional<NumberedName>> names_;
};

// Leaves into which hosts are plugged in numerical order: number minus port is the same for nearly all of
// them. Shows which cables are out of order, and where a host's place is free.
class PortOrder {
public:
    explicit PortOrder(const Fabric& fabric);

    // The leaves where the host's cables are in order, one entry per cable.
    std::vector<int> in_order(std::uint32_t h) const;

    // For a host with one cable: its own unit if the cable is in order; otherwise the only unit whose leaf of
    // that rail has a place for its number. none: undecided.
    int unit_of(std::uint32_t h) const;

private:
    struct Order {
        bool kept = false;
        std::string_view stem = {};
        std::int64_t offset = 0;
        int first = 0, last = 0; // ports
    };

    const Fabric& fabric_;
    std::vector<Order> leaves_; // by switch
    int longest_ = 0;           // the last port of the longest
};

} // namespace topo
