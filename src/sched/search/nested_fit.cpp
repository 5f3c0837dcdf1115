#include "sched/search/nested_fit.hpp"

#include "sched/search/fit.hpp"
#include "sched/search/found.hpp"
#include "sched/search/nested_deal.hpp"

#include <algorithm>

namespace sched {
namespace {

std::uint32_t up(std::uint32_t value, std::uint32_t step) {
    return (value + step - 1) / step * step;
}
std::uint32_t down(std::uint32_t value, std::uint32_t step) {
    return value - value % step;
}

// Hosts order[first … first + size), where ranks come in multiples of a step.
NestedRoom room_in(const PlacementIndex& index, std::uint32_t first, std::uint32_t size, std::uint32_t step,
                   const HostKind& kind) {
    NestedRoom room;
    for (auto i = first; i < first + size; ++i) {
        const auto what = kind(index.order[i]);
        room.hosts += what != 0 ? 1 : 0;
        room.required += what == 2 ? 1 : 0;
    }
    room.least = up(room.required, step);
    room.most = down(room.hosts, step);
    return room;
}

void add(NestedRoom& room, const NestedRoom& part) {
    room.hosts += part.hosts;
    room.least = part.least > part.most ? ~std::uint32_t{0} >> 1 : room.least + part.least;
    room.most += part.most;
    room.required += part.required;
}

void round(NestedRoom& room, std::uint32_t step) {
    room.least = up(room.least, step);
    room.most = down(room.most, step);
}

// The same from the counts of loads.
NestedRoom room_in(const NestedPart& part, std::uint32_t step) {
    return {part.candidates, up(part.required, step), down(part.candidates, step), part.required};
}

NestedRoom room_in_unit(const Loads& loads, std::uint32_t unit) {
    const auto& steps = loads.steps();
    const auto& parts = nested_parts(loads);
    NestedRoom room;
    for (auto p = parts.first_of[unit]; p < parts.first_of[unit + 1]; ++p)
        add(room, room_in(parts.all[p], loads.index().domains.empty() ? steps.unit : steps.domain));
    round(room, steps.unit);
    return room;
}

NestedRoom room_in_pod(const Loads& loads, std::uint32_t p) {
    const auto& pod = loads.index().pods[p];
    NestedRoom room;
    for (auto u = pod.first; u < pod.first + pod.size; ++u)
        add(room, room_in_unit(loads, u));
    round(room, loads.steps().pod);
    return room;
}

bool spares_may_be_required(const Loads& loads) {
    return loads.steps().any() && loads.request().spares > 0 && loads.required() > 0;
}

} // namespace

bool is_nested(const PlacementIndex& index, const Steps& steps, Span span) {
    return !index.domains.empty() || steps.pod != steps.unit || span == Span::domain;
}

NestedRoom room_in_domain(const PlacementIndex& index, const Steps& steps, std::uint32_t domain,
                          const HostKind& kind) {
    const auto& part = index.domains[domain];
    return room_in(index, part.first, part.size, steps.domain, kind);
}

NestedRoom room_in_unit(const PlacementIndex& index, const Steps& steps, std::uint32_t unit,
                        const HostKind& kind) {
    NestedRoom room;
    if (index.domains.empty())
        room = room_in(index, index.units[unit].first, index.units[unit].size, steps.unit, kind);
    else
        for (auto d = index.first_domain[unit]; d < index.first_domain[unit + 1]; ++d)
            add(room, room_in_domain(index, steps, d, kind));
    round(room, steps.unit);
    return room;
}

NestedRoom room_in_pod(const PlacementIndex& index, const Steps& steps, std::uint32_t pod,
                       const HostKind& kind) {
    NestedRoom room;
    for (auto u = index.pods[pod].first; u < index.pods[pod].first + index.pods[pod].size; ++u)
        add(room, room_in_unit(index, steps, u, kind));
    round(room, steps.pod);
    return room;
}

std::uint32_t largest_gang(const NestedRoom& room, const Steps& steps, std::uint32_t spares,
                           std::uint32_t most) {
    most = std::min(most, room.hosts);
    if (most < spares) return 0;
    // Without groups the spares are hosts like the others: required ones may be among them.
    const auto least = steps.any() ? room.least : room.least - std::min(room.least, spares);
    const auto ranks = down(std::min(room.most, most - spares), steps.whole);
    return ranks == 0 || ranks < least ? 0 : ranks + spares;
}

std::optional<std::uint32_t> least_nested_for_required(const Loads& loads) {
    if (loads.required() == 0) return 1U;
    if (spares_may_be_required(loads)) {
        const auto least = NestedDeal(loads, nested_parts(loads)).least(loads.request().spares);
        return least == 0 ? std::nullopt : std::optional(least);
    }
    NestedRoom all;
    for (std::uint32_t p = 0; p < loads.index().pods.size(); ++p)
        add(all, room_in_pod(loads, p));
    if (all.least > all.most) return std::nullopt;
    return up(std::max(all.least, 1U), loads.steps().whole);
}

namespace {

// The largest gang in one domain of a unit, or on one host.
std::uint32_t largest_in_domain(const Loads& loads, std::uint32_t unit, std::uint32_t most) {
    std::uint32_t largest = 0;
    const auto see = [&](NestedRoom room, bool joined) {
        if (!joined) room.hosts = std::min(room.hosts, 1U);
        if (room.required != loads.required()) return;
        const auto spares = loads.request().spares;
        if (spares_may_be_required(loads)) room.least = room.required - std::min(room.required, spares);
        largest = std::max(largest, largest_gang(room, loads.steps(), spares, most));
    };
    const auto& parts = nested_parts(loads);
    if (loads.index().domains.empty())
        see(room_in_unit(loads, unit), false);
    else
        for (auto p = parts.first_of[unit]; p < parts.first_of[unit + 1]; ++p)
            see(room_in(parts.all[p], loads.steps().domain), parts.all[p].joined);
    return largest;
}

// The same in units [first, first + size): one unit, or whole pods.
class LargestGang {
public:
    LargestGang(const Loads& loads, std::uint32_t most) : loads_(loads), most_(most) {
        if (!spares_may_be_required(loads)) return;
        deal_.emplace(loads_, nested_parts(loads));
    }
    std::uint32_t in(const NestedRoom& room, std::uint32_t first, std::uint32_t size) {
        if (room.required != loads_.required()) return 0;
        const auto spares = loads_.request().spares;
        return deal_ ? deal_->largest(first, size, spares, most_)
                     : largest_gang(room, loads_.steps(), spares, most_);
    }

private:
    const Loads& loads_;
    const std::uint32_t most_;
    std::optional<NestedDeal> deal_; // if required hosts may be spares
};

} // namespace

std::optional<std::uint32_t> largest_nested(const Loads& loads, std::uint32_t least, std::uint32_t most) {
    const auto& index = loads.index();
    const auto widest = widest_tier(loads.request().span);
    LargestGang gang(loads, most);
    std::uint32_t largest = 0;
    const auto see = [&](std::uint32_t nodes) { largest = std::max(largest, nodes); };
    NestedRoom all;
    for (const auto& island : index.islands) {
        NestedRoom joined;
        for (auto p = island.first; p < island.first + island.size; ++p) {
            const auto& pod = index.pods[p];
            for (auto u = pod.first; u < pod.first + pod.size; ++u) {
                if (loads.request().span == Span::domain)
                    see(largest_in_domain(loads, u, most));
                else
                    see(gang.in(room_in_unit(loads, u), u, 1));
            }
            if (widest < one_pod) continue;
            const auto room = room_in_pod(loads, p);
            see(gang.in(room, pod.first, pod.size));
            add(joined, room);
        }
        if (widest < one_island) continue;
        const auto& last = index.pods[island.first + island.size - 1];
        const auto first = index.pods[island.first].first;
        see(gang.in(joined, first, last.first + last.size - first));
        add(all, joined);
    }
    if (widest >= everywhere) see(gang.in(all, 0, static_cast<std::uint32_t>(index.units.size())));
    if (largest < least) return std::nullopt;
    return largest;
}

} // namespace sched
