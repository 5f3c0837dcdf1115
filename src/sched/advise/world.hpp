// What an advisor uses while it answers: the fabric and its mapping to the resource manager's node table.
#pragma once

#include "sched/advise/advisor.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace sched {

inline constexpr std::uint32_t unknown_host = UINT32_MAX;

// One consistent view. Never modified once built.
struct Advisor::World {
    std::shared_ptr<const Placing> placing;
    std::vector<std::uint32_t> host_of_node; // unknown_host: not in the fabric
    std::vector<std::uint32_t> node_of_host; // unknown_host: not in the table
    std::vector<float> health;               // of each host; empty: all are healthy
};

} // namespace sched
