#include "sched/search/choose.hpp"

#include "sched/search/narrow.hpp"
#include "sched/search/nested_parts.hpp"

#include <algorithm>
#include <functional>

namespace sched {
namespace {

// The fewest groups that hold the gang: those with required hosts and the largest others.
std::optional<GroupPlan> plan_groups(const Loads& loads, std::vector<Group> groups) {
    const auto need = loads.need();
    std::erase_if(groups, [](const Group& g) { return g.quanta == 0 && !g.required; });
    std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
        if (a.required != b.required) return a.required;
        if (a.quanta != b.quanta) return a.quanta > b.quanta;
        return a.first < b.first;
    });
    GroupPlan plan;
    std::uint64_t held = 0;
    std::size_t forced = 0;
    while (forced < groups.size() && groups[forced].required)
        held += groups[forced++].quanta;
    plan.taken = forced;
    while (held < need && plan.taken < groups.size())
        held += groups[plan.taken++].quanta;
    if (forced > 0 && groups[forced - 1].quanta == 0) return std::nullopt; // a segment does not fit there
    if (held < need || loads.required() > loads.request().nodes) return std::nullopt;
    plan.slack = static_cast<std::uint32_t>(held - need);
    if (plan.taken > forced) plan.pivot = groups[plan.taken - 1].quanta;

    // Slack spent by an exchange: what the group left out holds above the pivot, plus what the other lacks
    // below it.
    std::vector<std::uint32_t> out, in;
    for (std::size_t i = forced; i < groups.size() && plan.pivot != 0; ++i) {
        const auto size = groups[i].quanta;
        if (i < plan.taken && size - plan.pivot <= plan.slack) out.push_back(size - plan.pivot);
        if (i >= plan.taken && plan.pivot - size <= plan.slack) in.push_back(plan.pivot - size);
    }
    std::reverse(out.begin(), out.end()); // both cheapest first
    plan.cheapest = {0};
    std::uint64_t spent = 0;
    for (std::size_t r = 0; r < std::min(out.size(), in.size()); ++r) {
        spent += out[r] + in[r];
        if (spent > plan.slack) break;
        plan.cheapest.push_back(plan.cheapest.back() + in[r]);
    }
    groups.resize(plan.taken + (plan.swaps() == 0 ? 0 : in.size()));
    plan.groups = std::move(groups);
    return plan;
}

// Without a search: the units with required hosts and the largest others in the taken groups, all used
// completely except for the surplus of the last ones.
std::optional<Choice> largest_units(const Loads& loads, const GroupPlan& plan) {
    struct Used {
        std::uint32_t unit = 0, least = 0, quanta = 0;
    };
    const auto quantum = loads.quantum();
    std::vector<Used> forced, others;
    for (std::size_t g = 0; g < plan.taken; ++g)
        for (auto u = plan.groups[g].first; u < plan.groups[g].first + plan.groups[g].size; ++u) {
            const auto& load = loads.unit(u);
            const auto least = (load.required + quantum - 1) / quantum;
            if (load.quanta < least) return std::nullopt; // required hosts that do not fit into whole quanta
            if (load.quanta > 0) (least > 0 ? forced : others).push_back({u, least, load.quanta});
        }
    std::stable_sort(others.begin(), others.end(), [&](const Used& a, const Used& b) {
        if (a.quanta != b.quanta) return a.quanta > b.quanta;
        return loads.unit(a.unit).impaired < loads.unit(b.unit).impaired;
    });
    auto used = std::move(forced);
    std::uint64_t held = 0;
    for (const auto& unit : used)
        held += unit.quanta;
    for (auto other = others.begin(); held < loads.need() && other != others.end(); ++other) {
        held += other->quanta;
        used.push_back(*other);
    }
    if (held < loads.need()) return std::nullopt;
    auto surplus = held - loads.need();
    for (auto unit = used.rbegin(); unit != used.rend() && surplus > 0; ++unit) {
        const auto less = std::min<std::uint64_t>(surplus, unit->quanta - std::max(unit->least, 1U));
        unit->quanta -= static_cast<std::uint32_t>(less);
        surplus -= less;
    }
    if (surplus > 0) return std::nullopt; // the required hosts need more quanta than the gang has
    Choice choice;
    choice.cost.groups = static_cast<std::uint32_t>(plan.taken);
    choice.cost.units = static_cast<std::uint32_t>(used.size());
    for (const auto& unit : used) {
        const auto& load = loads.unit(unit.unit);
        const auto hosts = unit.quanta * quantum, left = load.free - hosts;
        choice.cost.avoidance += loads.total_avoidance(unit.unit);
        const auto worst = loads.optional_avoidances(unit.unit);
        for (std::size_t i = 0; i < std::min<std::size_t>(worst.size(), load.candidates - hosts); ++i)
            choice.cost.avoidance -= worst[i];
        choice.cost.left += left;
        choice.cost.broken += load.whole && left > 0 ? 1 : 0;
        choice.units.emplace_back(unit.unit, hosts);
    }
    std::sort(choice.units.begin(), choice.units.end());
    return choice;
}

// For given units and quanta of one host: drops the worst hosts that are not required, from as few whole
// units as possible.
Choice drop_worst(const Loads& loads, const std::vector<Group>& groups, std::uint32_t slack) {
    struct Droppable {
        std::uint32_t unit = 0;
        std::vector<std::uint32_t> values; // avoidances, largest first
        std::uint32_t drop = 0;
        bool spared = false; // whole and untouched so far
    };
    std::vector<Droppable> parts;
    std::vector<std::uint32_t> all;
    for (const auto& group : groups) {
        const auto& load = loads.unit(group.first);
        Droppable part{group.first, loads.optional_avoidances(group.first), 0, false};
        part.values.resize(load.candidates - load.required, 0);
        all.insert(all.end(), part.values.begin(), part.values.end());
        parts.push_back(std::move(part));
    }
    std::sort(all.begin(), all.end(), std::greater<>());
    const auto least = slack == 0 ? 0 : all[slack - 1]; // the least value dropped
    auto rest = slack;
    std::vector<std::pair<std::size_t, std::uint32_t>> equal; // part, hosts of exactly that value
    for (std::size_t i = 0; i < parts.size() && slack > 0; ++i) {
        auto& part = parts[i];
        const auto& load = loads.unit(part.unit);
        const auto above =
            std::find_if(part.values.begin(), part.values.end(), [&](auto v) { return v <= least; });
        part.drop = static_cast<std::uint32_t>(above - part.values.begin());
        rest -= part.drop;
        part.spared = load.whole && part.drop == 0 && load.free == load.candidates;
        equal.emplace_back(i, static_cast<std::uint32_t>(std::count(above, part.values.end(), least)));
    }
    std::stable_sort(equal.begin(), equal.end(), [&](const auto& a, const auto& b) {
        if (parts[a.first].spared != parts[b.first].spared) return !parts[a.first].spared;
        return a.second > b.second;
    });
    for (const auto& [i, count] : equal) {
        const auto more = std::min(count, rest);
        parts[i].drop += more;
        rest -= more;
    }
    Choice choice;
    choice.cost.groups = choice.cost.units = static_cast<std::uint32_t>(parts.size());
    for (const auto& part : parts) {
        const auto& load = loads.unit(part.unit);
        choice.cost.avoidance += loads.total_avoidance(part.unit);
        for (std::uint32_t i = 0; i < part.drop; ++i)
            choice.cost.avoidance -= part.values[i];
        const auto left = part.drop + load.free - load.candidates;
        choice.cost.left += left;
        choice.cost.broken += load.whole && left > 0 ? 1 : 0;
        choice.units.emplace_back(part.unit, load.candidates - part.drop);
    }
    std::sort(choice.units.begin(), choice.units.end());
    return choice;
}

// The units of these groups, each as its own group.
std::vector<Group> split(const Loads& loads, const std::vector<Group>& groups) {
    std::vector<Group> units;
    for (const auto& group : groups)
        for (auto u = group.first; u < group.first + group.size; ++u)
            units.push_back({u, 1, loads.unit(u).quanta, loads.unit(u).required > 0});
    return units;
}

Goal goal_of(const Loads& loads, const GroupPlan& plan, bool single, const Limits& limits) {
    Goal goal{{static_cast<std::uint32_t>(plan.taken), 0}, limits.left, limits.units != Limits{}.units};
    if (!single && plan.swaps() >= few_swaps) goal.units = fewest_units(loads, plan);
    if (goal.hard) goal.units.units = limits.units;
    return goal;
}

} // namespace

bool domains_count(const Loads& loads) {
    constexpr std::size_t few_parts = 4;
    if (!loads.simple() || loads.quantum() != 1 || loads.idle_bound() || loads.index().domains.empty())
        return false;
    const auto& parts = nested_parts(loads);
    for (std::uint32_t u = 0; u < loads.units().size(); ++u) {
        std::size_t used = 0;
        for (auto p = parts.first_of[u]; p < parts.first_of[u + 1]; ++p)
            if (parts.all[p].candidates > 0 && (!parts.all[p].joined || ++used > few_parts)) return false;
    }
    return true;
}

std::optional<Choice> choose(const Loads& loads, std::vector<Group> groups, bool single, const Limits& limits,
                             Budget& budget) {
    auto plan = plan_groups(loads, std::move(groups));
    if (plan) {
        plan->domains = limits.domains;
        plan->segments = limits.segments;
    }
    if (!plan || (!single && plan->taken > limits.pods)) return std::nullopt;
    if (plan->pivot == 0 && !single) { // the groups are fixed: only their units are to be chosen
        const auto taken = static_cast<std::uint32_t>(plan->taken);
        auto choice = choose(loads, split(loads, plan->groups), true, limits, budget);
        if (choice) choice->cost.groups = taken;
        return choice;
    }
    if (plan->pivot == 0 && loads.quantum() == 1) return drop_worst(loads, plan->groups, plan->slack);
    const auto cuts = budget.cuts();
    std::optional<Choice> choice;
    if (budget.left() == 0)
        budget.cut();
    else
        choice = solve(loads, *plan, single, goal_of(loads, *plan, single, limits), budget);
    if (!choice && budget.cuts() > cuts && !limits.segments) choice = largest_units(loads, *plan);
    return choice;
}

} // namespace sched
