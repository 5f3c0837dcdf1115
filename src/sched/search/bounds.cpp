// Pods: as many of the largest as hold the gang. Units: for any price per unit (Lagrange), units × price +
// what the units of the largest pods hold above it bounds what that many units in that many pods hold; each
// price gives a bound on the units, and the highest counts.
#include "sched/search/bounds.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace sched {
namespace {

// 0: all of them together hold too little.
std::uint32_t fewest_pods(const Stock& stock, std::uint64_t need) {
    std::vector<std::uint64_t> sums;
    std::size_t unit = 0;
    for (const auto end : stock.ends)
        for (sums.push_back(0); unit < end; ++unit)
            sums.back() += stock.held[unit];
    std::sort(sums.begin(), sums.end(), std::greater<>());
    std::uint64_t held = 0;
    for (std::size_t k = 0; k < sums.size(); ++k)
        if ((held += sums[k]) >= need) return static_cast<std::uint32_t>(k + 1);
    return 0;
}

// For places within pods [first, first + size) only; pods 0: there is none.
Fewest fewest_among(const Loads& loads, std::uint32_t first, std::uint32_t size, const Found& found) {
    const auto& request = loads.request();
    const auto segment = std::max(request.segment, 1U), spares = segment > 1 ? request.spares : 0;
    Stock hosts, segments;
    const auto whole_segments = (request.nodes - spares) / segment;
    Fewest forced{0, 0};
    std::uint32_t required = 0;
    for (auto p = first; p < first + size; ++p) {
        const auto& pod = loads.index().pods[p];
        for (auto u = pod.first; u < pod.first + pod.size; ++u) {
            hosts.held.push_back(loads.unit(u).candidates);
            segments.held.push_back(loads.unit(u).candidates / segment);
            forced.units += loads.unit(u).required > 0 ? 1 : 0;
        }
        hosts.ends.push_back(hosts.held.size());
        segments.ends.push_back(segments.held.size());
        forced.pods += loads.pod_required(p) > 0 ? 1 : 0;
        required += loads.pod_required(p);
    }
    const auto by_hosts = fewest_pods(hosts, request.nodes);
    const auto by_segments = fewest_pods(segments, whole_segments);
    if (required != loads.required() || by_hosts == 0 || by_segments == 0) return {};
    const auto pods = std::max({by_hosts, by_segments, forced.pods});
    if (pods > found.pods) return {};
    return {pods,
            std::max({fewest_units(hosts, found.pods, request.nodes).units,
                      fewest_units(segments, found.pods, whole_segments).units, forced.units, found.pods})};
}

// The fewest free hosts left behind in that many units.
std::uint64_t least_left(const Loads& loads, std::uint32_t units) {
    std::vector<std::uint32_t> free;
    for (const auto& load : loads.units())
        if (load.candidates > 0) free.push_back(load.free);
    if (free.size() < units) return 0;
    const auto end = free.begin() + static_cast<std::ptrdiff_t>(units);
    std::nth_element(free.begin(), end - 1, free.end());
    const auto held = std::accumulate(free.begin(), end, std::uint64_t{0});
    return held - std::min<std::uint64_t>(held, loads.request().nodes);
}

// The fewest wholly free units broken if that many units are used: all except those that are not whole and
// those that the gang can use up. Only whole segments fit into a unit; spares fill up the rest.
std::uint32_t least_broken(const Loads& loads, std::uint32_t units) {
    const auto& request = loads.request();
    const auto segment = std::max(request.segment, 1U);
    std::uint32_t in_use = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> whole; // spares needed to use it up, hosts
    for (const auto& load : loads.units()) {
        if (load.candidates == 0) continue;
        if (load.whole)
            whole.emplace_back(load.free % segment, load.free);
        else
            ++in_use;
    }
    const auto used_up = [&](auto part, std::uint64_t most) {
        std::vector<std::uint32_t> costs;
        for (const auto& unit : whole)
            costs.push_back(part(unit));
        std::sort(costs.begin(), costs.end());
        std::uint64_t sum = 0;
        std::uint32_t count = 0;
        while (count < costs.size() && (sum += costs[count]) <= most)
            ++count;
        return count;
    };
    const auto most = std::min(used_up([](const auto& unit) { return unit.first; }, request.spares),
                               used_up([](const auto& unit) { return unit.second; }, request.nodes));
    return units - std::min(units, in_use + most);
}

} // namespace

UnitBound fewest_units(const Stock& stock, std::size_t pods, std::uint64_t need) {
    struct Above {              // of a pod, at some price per unit
        std::uint64_t sum = 0;  // what its units hold above the price
        std::uint64_t held = 0; // what those units hold in total
    };
    std::vector<Above> above(stock.ends.size());
    const auto last = std::min(pods, above.size());
    const auto largest = stock.held.empty() ? 0 : *std::max_element(stock.held.begin(), stock.held.end());
    std::uint64_t fewest = 0, low = 1, high = largest;
    // The bound rises with the price until the units that hold more than the price hold no more than the gang
    // needs.
    while (low <= high) {
        const auto cost = (low + high) / 2;
        std::size_t unit = 0;
        for (std::size_t p = 0; p < above.size(); ++p)
            for (above[p] = {}; unit < stock.ends[p]; ++unit)
                if (const std::uint64_t held = stock.held[unit]; held > cost) {
                    above[p].sum += held - cost;
                    above[p].held += held;
                }
        if (last < above.size())
            std::nth_element(above.begin(), above.begin() + static_cast<std::ptrdiff_t>(last), above.end(),
                             [](const Above& a, const Above& b) { return a.sum > b.sum; });
        Above most;
        for (std::size_t p = 0; p < last; ++p) {
            most.sum += above[p].sum;
            most.held += above[p].held;
        }
        if (most.sum < need) fewest = std::max(fewest, (need - most.sum + cost - 1) / cost);
        if (most.held > need)
            low = cost + 1;
        else
            high = cost - 1;
    }
    return {static_cast<std::uint32_t>(fewest), static_cast<std::uint32_t>(high)};
}

Fewest fewest_possible(const Loads& loads, const Found& found) {
    const auto& index = loads.index();
    Fewest best{found.pods, found.units};
    const auto see = [&](std::uint32_t first, std::uint32_t size) {
        const auto here = fewest_among(loads, first, size, found);
        if (here.pods == 0) return;
        best.pods = std::min(best.pods, here.pods);
        best.units = std::min(best.units, here.units);
    };
    if (found.tier == one_pod)
        for (std::uint32_t p = 0; p < index.pods.size(); ++p)
            see(p, 1);
    else if (found.tier == one_island)
        for (const auto& island : index.islands)
            see(island.first, island.size);
    else if (found.tier == everywhere)
        see(0, static_cast<std::uint32_t>(index.pods.size()));
    return best;
}

bool proven_best(const Loads& loads, const Found& found, const Fewest& fewest) {
    // There are no bounds here for domains and groups of groups.
    if (found.domains > 0 || !found.shares.empty() || !loads.request().outer_segments.empty()) return false;
    return fewest == Fewest{found.pods, found.units} && found.misaligned == 0 && found.avoidance == 0 &&
           found.moved == 0 && !loads.idle_bound() && found.broken <= least_broken(loads, found.units) &&
           found.left <= least_left(loads, found.units);
}

} // namespace sched
