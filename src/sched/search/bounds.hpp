// The fewest pods and units of any place: reported if a place was not proven best, and ends a search that has
// reached it.
#pragma once

#include "sched/search/found.hpp"
#include "sched/search/loads.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sched {

struct Fewest {
    std::uint32_t pods = 0;
    std::uint32_t units = 0; // for places with as few pods as `found`
    bool operator==(const Fewest&) const = default;
};

// Lower bounds for any place of the gang within the tier of `found`, which is itself one. Hosts and whole
// segments are bounded separately; rails, health and left-over hosts not at all. Costs some microseconds for
// a thousand hosts.
Fewest fewest_possible(const Loads& loads, const Found& found);

// Whether no place can be better than `found` in any term. False: unknown. Costs as much as
// fewest_possible(), which has computed `fewest`.
bool proven_best(const Loads& loads, const Found& found, const Fewest& fewest);

// What the units of some pods hold, in hosts or in whole segments, pod by pod.
struct Stock {
    std::vector<std::uint32_t> held; // by unit
    std::vector<std::size_t> ends;   // of each pod's units in `held`
};

struct UnitBound {
    std::uint32_t units = 0; // fewer units in that many pods do not hold what is needed
    std::uint32_t cost = 0;  // the bound is highest if the price of a unit is this many hosts, or one more
};

// Costs some nanoseconds a unit.
UnitBound fewest_units(const Stock& stock, std::size_t pods, std::uint64_t need);

} // namespace sched
