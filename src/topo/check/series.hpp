// The numbers of a unit's hosts. Internal to src/topo/check.
#pragma once

#include "topo/fabric.hpp"
#include "topo/numbered_name.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace topo::checks {

// The hosts of a unit that are named alike but for one number, and those numbers, ascending.
struct Series {
    NumberedName name;
    std::vector<std::uint32_t> numbers;

    // Numbers among these, and those that go on from either end.
    void add(std::vector<std::uint32_t> more);
};

// Nothing where hosts of the unit are not named alike.
std::optional<Series> series_of(const Fabric& fabric, const Unit& unit);

} // namespace topo::checks
