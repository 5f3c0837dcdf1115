#include "sched/place.hpp"

#include "sched/ask/rank_order.hpp"
#include "sched/ask/segments.hpp"
#include "sched/say/reasons.hpp"
#include "sched/search/few_idle.hpp"
#include "sched/search/fit.hpp"
#include "sched/search/keep.hpp"
#include "sched/search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

namespace sched {
namespace {

using base::Code;
using base::Error;
using base::Expected;

Expected<void> check(const topo::Fabric& fabric, const Snapshot& snapshot, const Request& request) {
    const auto refuse = [](std::string text) -> Expected<void> {
        return Error{Code::usage, std::move(text)};
    };
    const auto hosts = fabric.hosts.size();
    if (snapshot.states.size() != hosts || (!snapshot.health.empty() && snapshot.health.size() != hosts))
        return refuse(fmt::format("the state is of {} hosts, the fabric has {}: they do not belong together",
                                  snapshot.states.size(), hosts));
    if (request.nodes == 0) return refuse("asks for 0 nodes: ask for at least 1");
    for (const auto* list : {&request.required, &request.excluded, &request.had})
        for (const auto h : *list)
            if (h >= hosts) return refuse(fmt::format("host index {}: the fabric has {} hosts", h, hosts));
    std::vector<std::uint32_t> required = request.required;
    std::sort(required.begin(), required.end());
    required.erase(std::unique(required.begin(), required.end()), required.end());
    for (const auto h : request.excluded)
        if (std::binary_search(required.begin(), required.end(), h))
            return refuse(fmt::format("{} is both required and excluded", fabric.hosts[h].name));
    const auto most = std::max(request.nodes, request.most);
    if (request.most != 0 && request.most < request.nodes)
        return refuse(
            fmt::format("asks for at least {} nodes and for at most {}", request.nodes, request.most));
    if (required.size() > most)
        return refuse(fmt::format("requires {} hosts but asks for {}", required.size(), most));
    if (request.spares >= most)
        return refuse(
            fmt::format("asks for {} spares among {} nodes: none is left to run on", request.spares, most));
    if (nodes_at_most(request, most).value_or(0) < request.nodes)
        return refuse(fmt::format("segments of {} do not divide {} nodes less {} spares",
                                  largest_segment(request), most, request.spares));
    auto inner = std::max(request.segment, 1U);
    for (const auto size : request.outer_segments) {
        if (size % inner != 0 || size == inner)
            return refuse(fmt::format("segments of {} are no whole number of segments of {}", size, inner));
        inner = size;
    }
    return {};
}

// The most nodes that can be taken without using the hosts kept for restarts.
std::uint32_t above_floor(const Loads& loads) {
    if (loads.request().spare_floor == 0) return ~std::uint32_t{0};
    return loads.mixed() + std::min(loads.idle_limit(), loads.candidates());
}

// The largest possible number of nodes, and the number that is certain to fit (0: only a search can tell);
// nullopt: it does not fit. They differ only for a gang that is limited to hosts in use (Loads::idle_bound).
std::optional<IdleRoom> nodes_that_fit(const Loads& loads) {
    const auto& request = loads.request();
    if (!std::all_of(request.required.begin(), request.required.end(),
                     [&](std::uint32_t h) { return loads.candidate(h); }))
        return std::nullopt;
    const auto most = std::min(std::max(request.nodes, request.most), above_floor(loads));
    const auto nodes = largest_that_fits(loads, request.nodes, most);
    if (!nodes) return std::nullopt;
    if (*nodes <= loads.idle_limit()) return IdleRoom{*nodes, *nodes};
    auto room = idle_room(loads, *nodes);
    const auto idle = largest_that_fits(loads, request.nodes, loads.idle_limit()); // whichever hosts it takes
    room.sure = std::max(room.sure >= request.nodes ? room.sure : 0, idle.value_or(0));
    room.most = std::max(room.most, room.sure);
    if (room.most < request.nodes || room.most < least_for_required(loads).value_or(0)) return std::nullopt;
    return room;
}

// The size to try if `nodes` was not found: the next smaller one, or, once the budget is spent, one that is
// certain to fit, or halfway to the minimum.
std::optional<std::uint32_t> fewer_nodes(const Request& gang, std::uint32_t least, const IdleRoom& room,
                                         bool spent) {
    if (spent && room.sure > 0 && room.sure < gang.nodes) return room.sure;
    const auto most = spent ? std::min(least + (gang.nodes - least) / 2, gang.nodes - 1) : gang.nodes - 1;
    const auto fewer = nodes_at_most(gang, most);
    return fewer && *fewer >= least ? fewer : std::nullopt;
}

// The best place for a gang of the size in `room`: that becomes the size of `gang`, the request of `loads`.
// If none is found, it is unchanged.
std::optional<Found> search_gang(const Loads& loads, Request& gang, const IdleRoom& room, Budget& budget) {
    const auto least = std::exchange(gang.nodes, room.most);
    for (;;) {
        auto found = gang.had.empty() ? search(loads, budget) : search_keeping(loads, budget);
        if (found) return found;
        const bool spent = !budget.spend(4 * loads.index().order.size());
        const auto fewer = fewer_nodes(gang, least, room, spent);
        if (room.sure == room.most || !fewer) {
            gang.nodes = least;
            return std::nullopt;
        }
        gang.nodes = *fewer;
    }
}

// `whole`: the search has examined everything. `most`: no larger gang fits.
Placement to_placement(const topo::Fabric& fabric, const Loads& loads, Found found, bool whole,
                       std::uint32_t most) {
    Placement placement;
    const bool largest = loads.request().nodes == most;
    placement.fewest = whole ? Fewest{found.pods, found.units} : fewest_possible(loads, found);
    placement.exact = whole || (largest && proven_best(loads, found, placement.fewest));
    placement.reasons = why_here(fabric, loads, found);
    if (!placement.exact) placement.reasons.push_back(not_exact(found, placement.fewest));
    if (!whole && !largest)
        placement.reasons.push_back(fmt::format("more nodes, up to {}, may have a place", most));
    placement.score = {.tier = found.tier,
                       .pods = found.pods,
                       .units = found.units,
                       .misaligned_rails = found.misaligned,
                       .avoidance = static_cast<double>(found.avoidance) / avoidance_unit,
                       .broken_units = found.broken,
                       .left_over = found.left,
                       .moved = found.moved,
                       .domains = found.domains,
                       .broken_domains = found.broken_domains,
                       .left_in_domains = found.left_in_domains};
    const auto& request = loads.request();
    auto ranked =
        order_ranks(loads.index(), std::move(found.hosts), sizes_of(request), request.spares, request.order);
    placement.spares = static_cast<std::uint32_t>(ranked.spares.size());
    placement.hosts = std::move(ranked.ranks);
    placement.hosts.insert(placement.hosts.end(), ranked.spares.begin(), ranked.spares.end());
    return placement;
}

} // namespace

Expected<Placement> Placer::place(const Snapshot& snapshot, const Request& request, Budget& budget) const {
    try {
        if (auto sound = check(fabric_, snapshot, request); !sound) return std::move(sound).error();
        auto gang = request;
        fold_segments(index_, gang);
        const Loads loads(index_, snapshot, gang);
        const auto room = nodes_that_fit(loads);
        if (!room) return why_not(fabric_, loads);
        const auto cuts = budget.cuts();
        auto found = search_gang(loads, gang, *room, budget);
        if (!found) {
            if (room->sure == 0) return why_not(fabric_, loads);
            // A gang that fits is placed: tests/unit/sched/exact_test.cpp.
            return Error{Code::internal,
                         fmt::format("{} nodes fit, and no place was found: please report it", room->sure)};
        }
        return to_placement(fabric_, loads, *std::move(found), budget.cuts() == cuts, room->most);
    } catch (const std::bad_alloc&) {
        return Error{Code::internal, "out of memory"};
    }
}

Expected<Placement> Placer::place(const Snapshot& snapshot, const Request& request) const {
    auto own = budget();
    return place(snapshot, request, own);
}

Expected<void> Placer::fits(const Snapshot& snapshot, const Request& request, Budget& budget) const {
    try {
        if (auto sound = check(fabric_, snapshot, request); !sound) return sound;
        auto gang = request;
        fold_segments(index_, gang);
        const Loads loads(index_, snapshot, gang);
        const auto room = nodes_that_fit(loads);
        if (!room || (room->sure == 0 && !search_gang(loads, gang, *room, budget)))
            return Error{Code::unfit, "does not fit"};
        return {};
    } catch (const std::bad_alloc&) {
        return Error{Code::internal, "out of memory"};
    }
}

Expected<void> Placer::fits(const Snapshot& snapshot, const Request& request) const {
    auto own = budget();
    return fits(snapshot, request, own);
}

Expected<Placement> place(const topo::Fabric& fabric, const Snapshot& snapshot, const Request& request) {
    return Placer(fabric).place(snapshot, request);
}

} // namespace sched
