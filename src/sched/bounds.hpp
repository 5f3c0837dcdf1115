// How few pods and units a place can have at least: what is said of a place that was not proven best.
#pragma once

#include "sched/found.hpp"
#include "sched/loads.hpp"

#include <cstdint>

namespace sched {

struct Fewest {
    std::uint32_t pods = 0;
    std::uint32_t units = 0; // of places with as few pods as `found`
    bool operator==(const Fewest&) const = default;
};

// Below what no place of the gang within the tier of `found`, which is one, can be: hosts and whole segments
// are bounded apart from each other, and rails, health and what is left over not at all. Costs some
// microseconds for a thousand hosts.
Fewest fewest_possible(const Loads& loads, const Found& found);

} // namespace sched
