// What a search within a tier has found.
#pragma once

#include "sched/search/loads.hpp"

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace sched {

// The parts that a tier confines a gang to.
enum Tier : std::uint32_t { one_unit = 0, one_pod = 1, one_island = 2, everywhere = 3 };

// The largest tier that a span allows: of a domain, which is no tier of its own, the unit.
Tier widest_tier(Span span);

struct Found {
    Tier tier = one_unit;
    std::uint32_t pods = 0;
    std::uint32_t units = 0;
    std::uint32_t domains = 0; // 0 where the fabric has none
    std::uint32_t misaligned = 0;
    std::uint64_t avoidance = 0; // thousandths; of a search that keeps hosts Loads::penalty(), until it ends
    std::uint32_t moved = 0;     // hosts that are not of Request::had; 0 where that is empty
    std::uint32_t broken_domains = 0;
    std::uint32_t broken = 0;
    std::uint32_t left_in_domains = 0;
    std::uint32_t left = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> taken; // unit and how many hosts of it, ascending
    std::vector<std::uint32_t> idle; // beside `taken`, where Loads::idle_bound(): how many of them are idle
    // Of a nested search (nested.hpp) what `taken` consists of, ascending.
    std::vector<Share> shares;
    std::vector<std::uint32_t> hosts; // in the order of PlacementIndex::order
};

// What is compared behind the tier, pods, units and domains, and the rails.
inline auto behind_rails(const Found& found) {
    return std::tuple(found.avoidance, found.broken_domains, found.broken, found.left_in_domains, found.left);
}

// Sets `hosts` from `taken`, or `shares`: the best hosts of each unit (Loads::take).
void fill_hosts(const Loads& loads, Found& found);

} // namespace sched
