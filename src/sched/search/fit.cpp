#include "sched/search/fit.hpp"

#include "sched/ask/segments.hpp"
#include "sched/search/found.hpp"
#include "sched/search/nested_fit.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace sched {
namespace {

std::uint32_t segment_of(const Request& request) {
    return std::max(request.segment, 1U);
}

// What a part holds.
struct Room {
    std::uint32_t hosts = 0, segments = 0, required = 0;

    void add(const UnitLoad& load, std::uint32_t segment) {
        hosts += load.candidates;
        segments += load.candidates / segment;
        required += load.required;
    }
};

// The most nodes that any part within the span holds.
class Largest {
public:
    explicit Largest(const Loads& loads)
        : required_(loads.required()), segment_(segment_of(loads.request())),
          spares_(loads.request().spares) {}

    void see(const Room& room) {
        if (room.required != required_ || room.hosts < spares_) return;
        const auto segments = std::min(room.segments, (room.hosts - spares_) / segment_);
        if (segments > 0) nodes = std::max(nodes, segments * segment_ + spares_);
    }

    std::uint32_t nodes = 0;

private:
    const std::uint32_t required_, segment_, spares_;
};

} // namespace

std::optional<std::uint32_t> nodes_at_most(const Request& request, std::uint32_t most) {
    const auto segment = largest_segment(request);
    if (most < request.spares + segment) return std::nullopt;
    return (most - request.spares) / segment * segment + request.spares;
}

std::optional<std::uint32_t> least_for_required(const Loads& loads) {
    if (is_nested(loads.index(), loads.steps(), loads.request().span))
        return least_nested_for_required(loads);
    const auto segment = segment_of(loads.request()), spares = loads.request().spares;
    // The number of required hosts in each segment, best first: the units' full ones, then their remainders.
    std::vector<std::uint32_t> gains;
    std::uint32_t out = loads.required();
    for (const auto& load : loads.units()) {
        if (load.required == 0) continue;
        const auto full = load.required / segment;
        gains.insert(gains.end(), full, segment);
        if (load.required % segment != 0 && load.candidates / segment > full)
            gains.push_back(load.required % segment);
    }
    std::sort(gains.begin(), gains.end(), std::greater<>());
    std::uint32_t segments = 0;
    while (out > spares && segments < gains.size())
        out -= gains[segments++];
    if (out > spares) return std::nullopt;
    return std::max(segments, 1U) * segment + spares;
}

std::optional<std::uint32_t> largest_that_fits(const Loads& loads, std::uint32_t least, std::uint32_t most) {
    const auto needed = least_for_required(loads);
    if (!needed) return std::nullopt;
    const auto& index = loads.index();
    if (is_nested(index, loads.steps(), loads.request().span)) {
        const auto nodes = nodes_at_most(loads.request(), most);
        return nodes && *nodes >= least ? largest_nested(loads, least, *nodes) : std::nullopt;
    }
    const auto segment = segment_of(loads.request());
    const auto widest = widest_tier(loads.request().span);
    Largest largest(loads);
    Room all;
    for (const auto& island : index.islands) {
        Room joined;
        for (auto p = island.first; p < island.first + island.size; ++p) {
            Room pod;
            for (auto u = index.pods[p].first; u < index.pods[p].first + index.pods[p].size; ++u) {
                Room unit;
                unit.add(loads.unit(u), segment);
                largest.see(unit);
                pod.add(loads.unit(u), segment);
            }
            if (widest >= one_pod) largest.see(pod);
            joined.hosts += pod.hosts;
            joined.segments += pod.segments;
            joined.required += pod.required;
        }
        if (widest >= one_island) largest.see(joined);
        all.hosts += joined.hosts;
        all.segments += joined.segments;
        all.required += joined.required;
    }
    if (widest >= everywhere) largest.see(all);
    const auto nodes = nodes_at_most(loads.request(), std::min(most, largest.nodes));
    if (!nodes || *nodes < std::max(least, *needed)) return std::nullopt;
    return nodes;
}

} // namespace sched
