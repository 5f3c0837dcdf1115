// The dynamic program behind choose(): which groups to exchange and what to leave out, so that exactly the
// slack is spent at the least cost. Internal to src/sched.
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

// The cost of a choice, most important term first.
struct Cost {
    std::uint32_t groups = 0;
    std::uint32_t units = 0;
    std::uint32_t domains = 0;        // 0 unless GroupPlan::domains
    std::uint64_t avoidance = 0;      // thousandths
    std::uint32_t broken_domains = 0; // the same, like left_in_domains
    std::uint32_t broken = 0;
    std::uint32_t left_in_domains = 0;
    std::uint32_t left = 0;
    auto operator<=>(const Cost&) const = default;
};

struct Choice {
    Cost cost;
    // Unit and number of its hosts, ascending; with GroupPlan::domains all hosts of the domains used,
    // including those left over.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> units;
};

struct Group {
    std::uint32_t first = 0; // units [first, first + size) of PlacementIndex::units
    std::uint32_t size = 0;
    std::uint32_t quanta = 0;
    bool required = false; // holds a required host
};

// The fewest groups that hold a gang, and those that they may be exchanged for.
struct GroupPlan {
    std::vector<Group> groups;           // taken ones first, each of the two sets largest first
    std::size_t taken = 0;               // number of groups in every choice
    std::vector<std::uint32_t> cheapest; // [r]: least slack spent by replacing r groups that were left out
    std::uint32_t slack = 0;
    std::uint32_t pivot = 0;        // quanta of the smallest group taken that is not required
    std::vector<std::uint8_t> kept; // by unit: no choice takes its group without it; empty: none is known
    bool domains = false;           // units are used domain by domain (Limits::domains)
    bool segments = false;          // the chosen units must also hold the gang's segments (Limits::segments)

    std::size_t swaps() const { return cheapest.size() - 1; } // maximum number of exchanges
};

// A lower bound for the choices of a plan, as far as the caller knows; domains, avoidance and broken units
// count as 0.
struct Goal {
    UnitBound units;
    std::uint32_t left = 0;
    bool hard = false; // a choice with more units is useless
};

// Plans with fewer exchanges are searched completely at once: no goal need be computed for them.
inline constexpr std::size_t few_swaps = 3;

// The cheapest choice of a plan, with as many exchanges as the memory for tables allows; a choice that
// reaches the goal ends the search. With `single`, each group is one unit. Nullopt: required hosts need more
// quanta than the gang has, the fewest units do not hold its segments, or the budget was cut.
std::optional<Choice> solve(const Loads& loads, const GroupPlan& plan, bool single, const Goal& goal,
                            Budget& budget);

} // namespace sched
