// What can be derived about a plan's choices without searching them. Internal to src/sched.
#pragma once

#include "sched/search/bounds.hpp"
#include "sched/search/budget.hpp"
#include "sched/search/dynamic_program.hpp"
#include "sched/search/loads.hpp"

#include <cstddef>
#include <memory>

namespace sched {

// For the choices of a plan whose groups are pods. Costs some nanoseconds per unit.
UnitBound fewest_units(const Loads& loads, const GroupPlan& plan);

// A plan whose groups are pods, narrowed step by step to choices that are still relevant: groups that these
// must take become required and come first, groups that they cannot take are removed, units that they use
// whenever they take the group are marked (GroupPlan::kept). Each step returns the maximum number of
// exchanges, and costs some tens of nanoseconds per unit.
class Narrowing {
public:
    Narrowing(const Loads& loads, GroupPlan plan, UnitBound fewest, Budget& budget);
    ~Narrowing();
    Narrowing(const Narrowing&) = delete;
    Narrowing& operator=(const Narrowing&) = delete;

    const GroupPlan& plan() const { return plan_; }

    // Narrows to choices with the fewest units.
    std::size_t to_fewest_units();

    // Narrows to choices that cost less than `known`, which also has the fewest units; 0 if there is none,
    // too.
    std::size_t below(const Cost& known);

private:
    class Relaxation;

    const Loads& loads_;
    GroupPlan plan_;
    const UnitBound fewest_;
    Budget& budget_;
    std::unique_ptr<Relaxation> relaxation_; // for the term in which the last known choice was not minimal
};

} // namespace sched
