// The dynamic program behind choose(): which groups to exchange and what to leave out, so that exactly the
// slack is spent and the cost is least. Internal to src/sched.
#pragma once

#include "sched/search/bounds.hpp"
#include "sched/search/budget.hpp"
#include "sched/search/loads.hpp"

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
    std::uint32_t domains = 0;        // 0 but of GroupPlan::domains
    std::uint64_t avoidance = 0;      // thousandths
    std::uint32_t broken_domains = 0; // likewise, as is left_in_domains
    std::uint32_t broken = 0;
    std::uint32_t left_in_domains = 0;
    std::uint32_t left = 0;
    auto operator<=>(const Cost&) const = default;
};

struct Choice {
    Cost cost;
    // Unit and how many hosts of it, ascending; of GroupPlan::domains all hosts of the domains used, also
    // those that are left over.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> units;
};

struct Group {
    std::uint32_t first = 0; // units [first, first + size) of PlacementIndex::units
    std::uint32_t size = 0;
    std::uint32_t quanta = 0;
    bool required = false; // holds a required host
};

// The fewest groups that hold a gang, and those they may be exchanged for.
struct GroupPlan {
    std::vector<Group> groups;           // taken ones first, each part largest first
    std::size_t taken = 0;               // groups in every choice
    std::vector<std::uint32_t> cheapest; // [r]: least slack that making up for r groups left out spends
    std::uint32_t slack = 0;
    std::uint32_t pivot = 0;        // quanta of the smallest group taken that is not required
    std::vector<std::uint8_t> kept; // by unit: no choice takes its group without it; empty: none is known
    bool domains = false;           // units are used domain by domain (Limits::domains)
    bool segments = false;          // the units chosen hold the gang's segments, too (Limits::segments)

    std::size_t swaps() const { return cheapest.size() - 1; } // most groups that can be exchanged
};

// What no choice of a plan undercuts, as far as the caller knows; domains, avoidance and broken units count
// as 0.
struct Goal {
    UnitBound units;
    std::uint32_t left = 0;
    bool hard = false; // a choice of more units is of no use
};

// Plans with fewer exchanges are searched whole at once: for them no goal need be worked out.
inline constexpr std::size_t few_swaps = 3;

// The cheapest choice of a plan, with as many exchanges as the memory for tables allows; what reaches the
// goal ends the search. With `single`, each group is one unit. Nullopt: required hosts need more quanta than
// the gang has, the fewest units do not hold its segments, or the budget was cut.
std::optional<Choice> solve(const Loads& loads, const GroupPlan& plan, bool single, const Goal& goal,
                            Budget& budget);

} // namespace sched
