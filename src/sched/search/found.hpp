// The result of a search within a tier.
#pragma once

#include "sched/search/loads.hpp"

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace sched {

// The parts to which a tier confines a gang.
enum Tier : std::uint32_t { one_unit = 0, one_pod = 1, one_island = 2, everywhere = 3 };

// The largest tier that a span allows; for a domain, which is not a tier, the unit.
Tier widest_tier(Span span);

struct Found {
    Tier tier = one_unit;
    std::uint32_t pods = 0;
    std::uint32_t units = 0;
    std::uint32_t domains = 0; // 0 where the fabric has none
    std::uint32_t misaligned = 0;
    std::uint64_t avoidance = 0; // thousandths; in a search that keeps hosts, Loads::penalty() until it ends
    std::uint32_t moved = 0;     // hosts that are not in Request::had; 0 if that is empty
    std::uint32_t broken_domains = 0;
    std::uint32_t broken = 0;
    std::uint32_t left_in_domains = 0;
    std::uint32_t left = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> taken; // unit and number of its hosts, ascending
    std::vector<std::uint32_t> idle; // for each of `taken`, if Loads::idle_bound(): how many are idle
    // For a nested search (nested.hpp): the parts of `taken`, ascending.
    std::vector<Share> shares;
    std::vector<std::uint32_t> hosts; // in the order of PlacementIndex::order
};

// The terms compared after the tier, pods, units, domains and rails.
inline auto behind_rails(const Found& found) {
    return std::tuple(found.avoidance, found.broken_domains, found.broken, found.left_in_domains, found.left);
}

// Sets `hosts` from `taken`, or from `shares`: the best hosts of each unit (Loads::take).
void fill_hosts(const Loads& loads, Found& found);

} // namespace sched
