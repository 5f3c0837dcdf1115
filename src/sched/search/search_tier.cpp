#include "sched/search/search_tier.hpp"

#include "sched/search/choose.hpp"
#include "sched/search/nested.hpp"
#include "sched/search/nested_fit.hpp"
#include "sched/search/nested_parts.hpp"
#include "sched/search/segmented.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace sched {
namespace {

auto order_of(const Found& found) {
    return std::tuple(found.pods, found.units, found.domains, found.avoidance, found.broken_domains,
                      found.broken, found.left_in_domains, found.left);
}

void keep_better(std::optional<Found>& best, std::optional<Found> other) {
    if (other && (!best || order_of(*other) < order_of(*best))) best = std::move(other);
}

Found from_choice(Choice choice, Tier tier, std::uint32_t pods) {
    Found found;
    found.tier = tier;
    found.pods = pods;
    found.units = choice.cost.units;
    found.domains = choice.cost.domains;
    found.avoidance = choice.cost.avoidance;
    found.broken_domains = choice.cost.broken_domains;
    found.broken = choice.cost.broken;
    found.left_in_domains = choice.cost.left_in_domains;
    found.left = choice.cost.left;
    found.taken = std::move(choice.units);
    return found;
}

// The minimum sum of avoidances for `nodes` hosts of a unit.
std::uint64_t least_avoidance(const Loads& loads, std::uint32_t unit, std::uint32_t nodes) {
    const auto& load = loads.unit(unit);
    const auto sound = load.candidates - load.impaired;
    if (load.required == 0 && sound >= nodes) return 0;
    if (load.required == 0 && loads.snapshot().health.empty())
        return nodes - sound; // hosts that are not kept
    auto sum = loads.total_avoidance(unit);
    auto drop = loads.unit(unit).candidates - nodes;
    for (const auto value : loads.optional_avoidances(unit)) {
        if (drop-- == 0) break;
        sum -= value;
    }
    return sum;
}

std::optional<Found> in_one_unit(const Loads& loads) {
    const auto nodes = loads.request().nodes;
    std::optional<Found> best;
    std::uint32_t best_unit = 0;
    for (std::uint32_t u = 0; u < loads.units().size(); ++u) {
        const auto& load = loads.unit(u);
        if (load.candidates < nodes || load.required != loads.required()) continue;
        Found found;
        found.pods = found.units = 1;
        found.left = load.free - nodes;
        found.broken = load.whole && found.left > 0 ? 1 : 0;
        if (load.impaired != 0) found.avoidance = least_avoidance(loads, u, nodes);
        if (best && order_of(found) >= order_of(*best)) continue;
        best = std::move(found);
        best_unit = u;
    }
    if (best) best->taken = {{best_unit, nodes}};
    return best;
}

std::vector<Group> units_of_pod(const Loads& loads, std::uint32_t p) {
    const auto& pod = loads.index().pods[p];
    std::vector<Group> groups;
    groups.reserve(pod.size);
    for (auto u = pod.first; u < pod.first + pod.size; ++u)
        groups.push_back({u, 1, loads.unit(u).quanta, loads.unit(u).required > 0});
    return groups;
}

// The fewest units of a pod that hold the gang.
std::uint32_t fewest_units(const Loads& loads, std::uint32_t p, std::vector<std::uint32_t>& sizes) {
    const auto& pod = loads.index().pods[p];
    sizes.clear();
    std::uint64_t held = 0;
    std::uint32_t units = 0;
    for (auto u = pod.first; u < pod.first + pod.size; ++u) {
        const auto& load = loads.unit(u);
        if (load.required > 0) {
            held += load.quanta;
            ++units;
        } else if (load.quanta > 0) {
            sizes.push_back(load.quanta);
        }
    }
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    for (std::size_t i = 0; held < loads.need() && i < sizes.size(); ++i) {
        held += sizes[i];
        ++units;
    }
    return units;
}

// The fewest domains of a pod that hold the gang.
std::uint32_t fewest_domains(const Loads& loads, std::uint32_t p, std::vector<std::uint32_t>& sizes) {
    const auto& pod = loads.index().pods[p];
    const auto& parts = nested_parts(loads);
    sizes.clear();
    for (auto i = parts.first_of[pod.first]; i < parts.first_of[pod.first + pod.size]; ++i)
        sizes.push_back(parts.all[i].candidates);
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    std::uint32_t domains = 0;
    for (std::uint64_t held = 0; held < loads.request().nodes && domains < sizes.size(); ++domains)
        held += sizes[domains];
    return domains;
}

// A description of a pod's units for simple loads.
std::vector<std::uint32_t> looks(const Loads& loads, std::uint32_t p, bool domains) {
    const auto& pod = loads.index().pods[p];
    std::vector<std::uint32_t> units;
    units.reserve(pod.size);
    if (domains) {
        std::vector<std::vector<std::uint32_t>> each;
        for (auto u = pod.first; u < pod.first + pod.size; ++u)
            each.push_back(look_of_parts(loads, u));
        std::sort(each.begin(), each.end());
        for (const auto& look : each)
            units.insert(units.end(), look.begin(), look.end());
        return units;
    }
    for (auto u = pod.first; u < pod.first + pod.size; ++u)
        units.push_back(loads.unit(u).quanta * 2 + (loads.unit(u).whole ? 1 : 0));
    std::sort(units.begin(), units.end());
    return units;
}

// The fewest hosts new to the job of a gang in this pod: each costs one.
std::uint32_t least_moved(const Loads& loads, std::uint32_t p) {
    if (!loads.keeps() || !loads.snapshot().health.empty()) return 0;
    const auto& pod = loads.index().pods[p];
    std::uint32_t kept = 0;
    for (auto u = pod.first; u < pod.first + pod.size; ++u)
        kept += loads.unit(u).candidates - loads.unit(u).impaired;
    return loads.request().nodes - std::min(loads.request().nodes, kept);
}

// A pod that holds the gang, and a lower bound for its choices of units.
struct Fitting {
    std::uint32_t pod = 0, units = 0, domains = 0, moved = 0;
    auto least() const { return std::tuple(units, domains, std::uint64_t{moved}); }
};

std::vector<Fitting> fitting_pods(const Loads& loads, const Limits& limits) {
    std::vector<Fitting> fitting;
    std::vector<std::uint32_t> scratch;
    for (std::uint32_t p = 0; p < loads.index().pods.size(); ++p) {
        if (loads.pod_quanta(p) < loads.need() || loads.pod_required(p) != loads.required()) continue;
        fitting.push_back({p, fewest_units(loads, p, scratch), 0, least_moved(loads, p)});
        if (limits.domains) fitting.back().domains = fewest_domains(loads, p, scratch);
    }
    std::stable_sort(fitting.begin(), fitting.end(),
                     [](const auto& a, const auto& b) { return a.least() < b.least(); });
    return fitting;
}

std::optional<Found> in_one_pod(const Loads& loads, const Limits& limits, Budget& budget) {
    const auto fitting = fitting_pods(loads, limits);
    std::optional<Found> best;
    if (fitting.empty() || fitting.front().units > limits.units) return best;
    std::vector<std::vector<std::uint32_t>> tried;
    for (const auto& pod : fitting) {
        const bool tight =
            best && best->broken_domains == 0 && best->broken == 0 && best->left <= limits.left;
        if (best && std::tuple(best->units, best->domains, best->avoidance + (tight ? 0 : 1)) <= pod.least())
            break;
        if (best && budget.left() == 0) {
            budget.cut();
            break;
        }
        if (loads.simple()) { // a pod with the same look holds nothing better
            auto look = looks(loads, pod.pod, limits.domains);
            if (std::find(tried.begin(), tried.end(), look) != tried.end()) continue;
            tried.push_back(std::move(look));
        }
        if (auto choice = choose(loads, units_of_pod(loads, pod.pod), true, limits, budget))
            keep_better(best, from_choice(std::move(*choice), one_pod, 1));
    }
    return best;
}

std::optional<Found> in_pods(const Loads& loads, std::uint32_t first, std::uint32_t size, Tier tier,
                             const Limits& limits, Budget& budget) {
    std::vector<Group> groups;
    groups.reserve(size);
    std::uint32_t required = 0;
    for (auto p = first; p < first + size; ++p) {
        const auto& pod = loads.index().pods[p];
        groups.push_back({pod.first, pod.size, loads.pod_quanta(p), loads.pod_required(p) > 0});
        required += loads.pod_required(p);
    }
    if (required != loads.required()) return std::nullopt;
    auto choice = choose(loads, std::move(groups), false, limits, budget);
    if (!choice) return std::nullopt;
    const auto pods = choice->cost.groups;
    return from_choice(std::move(*choice), tier, pods);
}

// For this many hosts in pods, ignoring segments if there are spares.
std::optional<Found> search_pods(const Loads& loads, Tier tier, Budget& budget, const Limits& limits) {
    const auto& index = loads.index();
    if (tier == one_pod) return in_one_pod(loads, limits, budget);
    std::optional<Found> best;
    if (tier == one_island)
        for (const auto& island : index.islands)
            keep_better(best, in_pods(loads, island.first, island.size, tier, limits, budget));
    else if (index.islands.size() > 1)
        best = in_pods(loads, 0, static_cast<std::uint32_t>(index.pods.size()), tier, limits, budget);
    return best;
}

// For units and pods, ignoring domains.
std::optional<Found> search_units(const Loads& loads, Tier tier, Budget& budget, const Limits& limits) {
    if (tier == one_unit && !loads.idle_bound()) return in_one_unit(loads);
    if (!loads.idle_bound() && !loads.segmented()) return search_pods(loads, tier, budget, limits);
    return search_segmented(loads, tier, budget, [&](Budget& some) {
        auto counting = limits;
        counting.segments = loads.segmented() && loads.simple();
        return search_pods(loads, tier, some, counting);
    });
}

} // namespace

std::optional<Found> search_tier(const Loads& loads, Tier tier, Budget& budget, const Limits& limits) {
    if (loads.candidates() < loads.request().nodes) return std::nullopt;
    if (!is_nested(loads.index(), loads.steps(), loads.request().span))
        return search_units(loads, tier, budget, limits);
    return search_nested(loads, tier, budget, [&](bool domains) {
        auto counting = limits;
        counting.domains = domains;
        return search_units(loads, tier, budget, counting);
    });
}

} // namespace sched
