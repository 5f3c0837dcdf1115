// The exact choice of parts for one gang, counted in quanta (Loads::quantum: hosts, or whole segments): the
// fewest groups, in them the fewest units, then least avoidance, fewest broken units and least left over.
//
// Two uses: groups are the pods of an island, whose units may be left out one by one; or groups are units.
// Taking the largest groups until the gang fits gives the fewest; their surplus, the slack, is less than the
// smallest group taken. Every other choice as small spends slack: by exchanging a group for a smaller one, by
// leaving a unit or a quantum out. So a dynamic program over (groups exchanged, slack spent) is exact and
// small: slack never exceeds a group's quanta.
#pragma once

#include "sched/search/dynamic_program.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// What is known of a choice before it is looked for. More pods or units than these need not be found, and no
// choice within them has fewer units, or leaves fewer free hosts behind.
struct Limits {
    std::uint32_t pods = ~std::uint32_t{0};
    std::uint32_t units = ~std::uint32_t{0};
    std::uint32_t left = 0;
    // Domains count behind units, too. For loads of which domains_count() alone.
    bool domains = false;
    // Of a gang of Loads::segmented(), which is counted in hosts: the units chosen hold its segments, too.
    // Nothing is found where more units are needed for these than for the hosts. For Loads::simple() alone.
    bool segments = false;
};

// Whether choose() can count NVLink domains: every candidate is in one, and as good as another, and no unit
// has candidates in more than a few.
bool domains_count(const Loads& loads);

// The best choice for the gang of `loads` from these groups; nullopt when they hold too little, more is
// required, or more groups are needed than `limits` has pods. With `single`, each group is one unit. When the
// budget is spent, and beyond 16,384 hosts of impaired health, whose tables would be too large: still the
// fewest groups, but the later terms may be worse.
std::optional<Choice> choose(const Loads& loads, std::vector<Group> groups, bool single, const Limits& limits,
                             Budget& budget);

} // namespace sched
