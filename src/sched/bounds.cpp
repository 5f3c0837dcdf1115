// Pods: so many of the largest as hold the gang. Units: whatever a unit is said to cost (Lagrange), units ×
// cost + the largest pods' sums of what their units hold above it is no less than what any choice of so many
// units in so many pods holds; each cost gives a bound, and the highest counts.
#include "sched/bounds.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace sched {
namespace {

// What the units of some pods hold, of hosts or of whole segments, and how much of it is needed.
struct Stock {
    std::vector<std::vector<std::uint32_t>> pods; // by pod, what each unit holds
    std::uint64_t need = 0;
};

std::uint64_t most_in(std::vector<std::uint64_t>& sums, std::size_t pods) {
    const auto end = sums.begin() + static_cast<std::ptrdiff_t>(std::min(pods, sums.size()));
    if (end != sums.end()) std::nth_element(sums.begin(), end, sums.end(), std::greater<>());
    return std::accumulate(sums.begin(), end, std::uint64_t{0});
}

// 0: all of them together hold too little.
std::uint32_t fewest_pods(const Stock& stock) {
    std::vector<std::uint64_t> sums;
    for (const auto& pod : stock.pods)
        sums.push_back(std::accumulate(pod.begin(), pod.end(), std::uint64_t{0}));
    std::sort(sums.begin(), sums.end(), std::greater<>());
    std::uint64_t held = 0;
    for (std::size_t k = 0; k < sums.size(); ++k)
        if ((held += sums[k]) >= stock.need) return static_cast<std::uint32_t>(k + 1);
    return 0;
}

std::uint32_t fewest_units(const Stock& stock, std::uint32_t pods) {
    std::uint32_t largest = 0;
    for (const auto& pod : stock.pods)
        for (const auto held : pod)
            largest = std::max(largest, held);
    std::uint64_t fewest = 1;
    std::vector<std::uint64_t> sums;
    for (std::uint64_t cost = 1; cost <= largest; ++cost) {
        sums.clear();
        for (const auto& pod : stock.pods) {
            std::uint64_t above = 0;
            for (const auto held : pod)
                above += held > cost ? held - cost : 0;
            sums.push_back(above);
        }
        const auto free = most_in(sums, pods);
        if (free < stock.need) fewest = std::max(fewest, (stock.need - free + cost - 1) / cost);
    }
    return static_cast<std::uint32_t>(fewest);
}

// Of places in pods [first, first + size) alone; pods 0: there is none.
Fewest fewest_among(const Loads& loads, std::uint32_t first, std::uint32_t size, const Found& found) {
    const auto& request = loads.request();
    const auto segment = std::max(request.segment, 1U), spares = segment > 1 ? request.spares : 0;
    Stock hosts{{}, request.nodes}, segments{{}, (request.nodes - spares) / segment};
    Fewest forced{0, 0};
    std::uint32_t required = 0;
    for (auto p = first; p < first + size; ++p) {
        const auto& pod = loads.index().pods[p];
        auto& held = hosts.pods.emplace_back();
        auto& whole = segments.pods.emplace_back();
        for (auto u = pod.first; u < pod.first + pod.size; ++u) {
            held.push_back(loads.unit(u).candidates);
            whole.push_back(loads.unit(u).candidates / segment);
            forced.units += loads.unit(u).required > 0 ? 1 : 0;
        }
        forced.pods += loads.pod_required(p) > 0 ? 1 : 0;
        required += loads.pod_required(p);
    }
    const auto by_hosts = fewest_pods(hosts), by_segments = fewest_pods(segments);
    if (required != loads.required() || by_hosts == 0 || by_segments == 0) return {};
    const auto pods = std::max({by_hosts, by_segments, forced.pods});
    if (pods > found.pods) return {};
    return {pods, std::max({fewest_units(hosts, found.pods), fewest_units(segments, found.pods), forced.units,
                            found.pods})};
}

} // namespace

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

} // namespace sched
