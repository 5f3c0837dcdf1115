// What can be told of a plan's choices without searching them. Internal to src/sched.
#pragma once

#include "sched/search/bounds.hpp"
#include "sched/search/budget.hpp"
#include "sched/search/dynamic_program.hpp"
#include "sched/search/loads.hpp"

#include <cstddef>
#include <memory>

namespace sched {

// Of the choices of a plan, whose groups are pods. Costs some nanoseconds a unit.
UnitBound fewest_units(const Loads& loads, const GroupPlan& plan);

// A plan whose groups are pods, narrowed step by step to choices that are still of interest: groups that
// these must take become required and come first, groups that they cannot take go, units that they use
// wherever they take the group are marked (GroupPlan::kept). Each step tells how many groups they exchange at
// most, and costs some tens of nanoseconds a unit.
class Narrowing {
public:
    Narrowing(const Loads& loads, GroupPlan plan, UnitBound fewest, Budget& budget);
    ~Narrowing();
    Narrowing(const Narrowing&) = delete;
    Narrowing& operator=(const Narrowing&) = delete;

    const GroupPlan& plan() const { return plan_; }

    // To choices of no more than the fewest units.
    std::size_t to_fewest_units();

    // To choices that cost less than `known`, which has the fewest units, too; 0 also where there is none.
    std::size_t below(const Cost& known);

private:
    class Relaxation;

    const Loads& loads_;
    GroupPlan plan_;
    const UnitBound fewest_;
    Budget& budget_;
    std::unique_ptr<Relaxation> relaxation_; // of the term in which the last known choice was not the least
};

} // namespace sched
