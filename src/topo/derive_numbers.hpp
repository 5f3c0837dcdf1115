// What host numbers say of units, where cables do not: neighbours by number, and ports in the order of
// numbers. Internal to src/topo.
#pragma once

#include "topo/derive_parts.hpp"
#include "topo/numbered_name.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace topo {

// Which unit a host's neighbours by number are in: hosts are cabled in the order of their numbers nearly
// everywhere. Works on Host::unit.
class Numbering {
public:
    explicit Numbering(const Fabric& fabric);

    // The units of the nearest hosts of the series on both sides, at most `each` on either; hosts of no unit
    // are passed over.
    Tally around(std::uint32_t h, std::size_t each) const;

    // The unit that the two next hosts on either side are in and none beyond contradicts; none otherwise.
    int between(std::uint32_t h) const;

private:
    bool kin(std::uint32_t h, std::int64_t other) const;

    const Fabric& fabric_;
    std::vector<std::optional<NumberedName>> names_;
};

// Where hosts are plugged into a leaf in the order of their numbers: the number less the port is the same for
// nearly all of them. Tells which cables are out of order, and where a host's place is free.
class PortOrder {
public:
    explicit PortOrder(const Fabric& fabric);

    // The leaves on which the host's cables are in order, one for each cable.
    std::vector<int> in_order(std::uint32_t h) const;

    // Of a host with one cable: its own unit where that is in order; where it is not, the one unit on whose
    // leaf of that rail its number has a place. none: nothing is told.
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
