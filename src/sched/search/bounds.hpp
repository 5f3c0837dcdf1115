// How few pods and units a place can have at least: what is said of a place that was not proven best, and
// what ends a search that has reached it.
#pragma once

#include "sched/search/found.hpp"
#include "sched/search/loads.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

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

// Whether no place can be better than the one that was found, in any term. False: that is not known. Costs
// what fewest_possible() does, which `fewest` is from.
bool proven_best(const Loads& loads, const Found& found, const Fewest& fewest);

// What the units of some pods hold, of hosts or of whole segments, pod after pod.
struct Stock {
    std::vector<std::uint32_t> held; // by unit
    std::vector<std::size_t> ends;   // of each pod's units in `held`
};

struct UnitBound {
    std::uint32_t units = 0; // fewer of so many pods do not hold what is needed
    std::uint32_t cost = 0;  // the bound is highest where a unit costs what so many hold, or one more
};

// Costs some nanoseconds a unit.
UnitBound fewest_units(const Stock& stock, std::size_t pods, std::uint64_t need);

} // namespace sched
