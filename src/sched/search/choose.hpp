// The exact choice of parts for one gang, counted in quanta (Loads::quantum: hosts, or whole segments): the
// fewest groups, in them the fewest units, then least avoidance, fewest broken units and least left over.
//
// There are two uses: groups are the pods of an island, whose units may be left out individually; or groups
// are units. Taking the largest groups until the gang fits gives the fewest; their surplus, the slack, is
// less than the smallest group taken. Every other choice of the same size spends slack: by exchanging a group
// for a smaller one, or by leaving out a unit or a quantum. So a dynamic program over (groups exchanged,
// slack spent) is exact and small: slack never exceeds a group's quanta.
#pragma once

#include "sched/search/dynamic_program.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// What is known about a choice before the search. Choices with more pods or units need not be found, and no
// choice within these limits has fewer units, or leaves fewer free hosts behind.
struct Limits {
    std::uint32_t pods = ~std::uint32_t{0};
    std::uint32_t units = ~std::uint32_t{0};
    std::uint32_t left = 0;
    // Domains are also counted, after units. Only for loads with domains_count().
    bool domains = false;
    // For a gang with Loads::segmented(), which is counted in hosts: the chosen units must also hold its
    // segments. Nothing is found if these need more units than the hosts do. Only for Loads::simple().
    bool segments = false;
};

// Whether choose() can count NVLink domains: every candidate is in one, all are equally good, and no unit has
// candidates in more than a few.
bool domains_count(const Loads& loads);

// The best choice for the gang of `loads` from these groups; nullopt if they hold too little, more hosts are
// required, or more groups are needed than `limits` has pods. With `single`, each group is one unit. When the
// budget is spent, and beyond 16,384 hosts of impaired health, whose tables would be too large: still the
// fewest groups, but later terms may be worse.
std::optional<Choice> choose(const Loads& loads, std::vector<Group> groups, bool single, const Limits& limits,
                             Budget& budget);

} // namespace sched
