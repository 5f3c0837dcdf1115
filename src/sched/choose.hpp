// The exact choice of parts for one gang, counted in quanta (Loads::quantum: hosts, or whole segments): the
// fewest groups, in them the fewest units, then least avoidance, fewest broken units and least left over.
//
// Two uses: groups are the pods of an island, whose units may be left out one by one; or groups are units.
// Taking the largest groups until the gang fits gives the fewest; what they hold too much, the slack, is less
// than the smallest group taken. Every other choice as small spends slack: by exchanging a group for a
// smaller one, by leaving a unit or a quantum out. So a dynamic programme over (groups exchanged, slack
// spent) is exact and small: slack never exceeds a group's quanta.
#pragma once

#include "sched/budget.hpp"
#include "sched/loads.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sched {

// What a choice costs, most important first.
struct Cost {
    std::uint32_t groups = 0;
    std::uint32_t units = 0;
    std::uint64_t avoidance = 0; // thousandths
    std::uint32_t broken = 0;
    std::uint32_t left = 0;
    auto operator<=>(const Cost&) const = default;
};

struct Choice {
    Cost cost;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> units; // unit and how many hosts of it, ascending
};

struct Group {
    std::uint32_t first = 0; // units [first, first + size) of PlacementIndex::units
    std::uint32_t size = 0;
    std::uint32_t quanta = 0;
    bool required = false; // holds a required host
};

// The best choice for the gang of `loads` from these groups; nullopt when they hold too little, more is
// required, or more than `most` groups are needed. With `single`, each group is one unit. When the budget is
// spent, and beyond 16,384 hosts of impaired health, whose tables would be too large: the fewest groups all
// the same, but more may be spent in the terms behind.
std::optional<Choice> choose(const Loads& loads, std::vector<Group> groups, bool single, Budget& budget,
                             std::uint32_t most = ~std::uint32_t{0});

} // namespace sched
