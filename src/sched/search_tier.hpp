// The best hosts for a request within one tier, rails disregarded.
#pragma once

#include "sched/budget.hpp"
#include "sched/found.hpp"

#include <cstdint>
#include <optional>

namespace sched {

// What a choice may use at most; more counts as not fitting. Saves work, need not be kept exactly.
struct Limits {
    std::uint32_t pods = ~std::uint32_t{0};
    std::uint32_t units = ~std::uint32_t{0};
};

// The best choice within one tier, without hosts (fill_hosts). Nullopt when no part of that tier holds the
// gang.
std::optional<Found> search_tier(const Loads& loads, Tier tier, Budget& budget, Limits limits = {});

} // namespace sched
