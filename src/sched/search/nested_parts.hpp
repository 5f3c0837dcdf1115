// The smallest parts of a fabric that hosts are counted in: NVLink domains, or units where there are none.
// Internal to src/sched.
#pragma once

#include "sched/search/loads.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sched {

// A part below which hosts are not told apart by place.
struct NestedPart {
    std::uint32_t first = 0, size = 0; // positions in PlacementIndex::order
    std::uint32_t candidates = 0, free = 0, required = 0;
    bool joined = false; // is an NVLink domain
    bool whole() const { return free == size; }
    // Every candidate is as good as another, none is required; but where Loads::idle_bound(), which depends
    // on how large a gang is tried, those in use and those that are idle are told apart.
    bool plain = true;
};

struct NestedParts {
    std::vector<NestedPart> all;
    std::vector<std::uint32_t> first_of; // by unit, and the end
};
// Of these loads, which own them; counted at the first call, and the same for a gang of any size.
const NestedParts& nested_parts(const Loads& loads);

// The parts of a unit; some may have no candidate.
std::span<const NestedPart> unit_parts(const Loads& loads, std::uint32_t unit);
// What they are, of a unit whose hosts are all alike: another that looks so is as good.
std::vector<std::uint32_t> look_of_parts(const Loads& loads, std::uint32_t unit);

} // namespace sched
