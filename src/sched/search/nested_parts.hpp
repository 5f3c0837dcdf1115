// The smallest parts of a fabric in which hosts are counted: NVLink domains, or units if there are none.
// Internal to src/sched.
#pragma once

#include "sched/search/loads.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sched {

// A part within which the place of a host does not matter.
struct NestedPart {
    std::uint32_t first = 0, size = 0; // positions in PlacementIndex::order
    std::uint32_t candidates = 0, free = 0, required = 0;
    bool joined = false; // is an NVLink domain
    bool whole() const { return free == size; }
    // All candidates are equally good, none is required; except with Loads::idle_bound(), which depends on
    // the gang size tried: then hosts in use and idle ones differ.
    bool plain = true;
};

struct NestedParts {
    std::vector<NestedPart> all;
    std::vector<std::uint32_t> first_of; // by unit, and the end
};
// For these loads, which own them; counted at the first call, and the same for gangs of any size.
const NestedParts& nested_parts(const Loads& loads);

// The parts of a unit; some may have no candidate.
std::span<const NestedPart> unit_parts(const Loads& loads, std::uint32_t unit);
// A description of them, for a unit whose hosts are all alike: a unit with the same look is as good.
std::vector<std::uint32_t> look_of_parts(const Loads& loads, std::uint32_t unit);

} // namespace sched
