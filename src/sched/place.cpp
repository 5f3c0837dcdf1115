#include "sched/place.hpp"

#include "sched/reasons.hpp"
#include "sched/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

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
    for (const auto* list : {&request.required, &request.excluded})
        for (const auto h : *list)
            if (h >= hosts) return refuse(fmt::format("host index {}: the fabric has {} hosts", h, hosts));
    std::vector<std::uint32_t> required = request.required;
    std::sort(required.begin(), required.end());
    required.erase(std::unique(required.begin(), required.end()), required.end());
    for (const auto h : request.excluded)
        if (std::binary_search(required.begin(), required.end(), h))
            return refuse(fmt::format("{} is both required and excluded", fabric.hosts[h].name));
    if (required.size() > request.nodes)
        return refuse(fmt::format("requires {} hosts but asks for {}", required.size(), request.nodes));
    return {};
}

Placement to_placement(const topo::Fabric& fabric, const Loads& loads, Found found) {
    Placement placement;
    placement.reasons = why_here(fabric, loads, found);
    placement.score = {found.tier,
                       found.pods,
                       found.units,
                       found.misaligned,
                       static_cast<double>(found.avoidance) / avoidance_unit,
                       found.broken,
                       found.left};
    placement.hosts = std::move(found.hosts);
    if (loads.request().order == RankOrder::none) std::sort(placement.hosts.begin(), placement.hosts.end());
    return placement;
}

} // namespace

Expected<Placement> Placer::place(const Snapshot& snapshot, const Request& request) const {
    try {
        if (auto sound = check(fabric_, snapshot, request); !sound) return std::move(sound).error();
        const Loads loads(index_, snapshot, request);
        const bool available = std::all_of(request.required.begin(), request.required.end(),
                                           [&](std::uint32_t h) { return loads.candidate(h); });
        auto found = available ? search(loads) : std::nullopt;
        if (!found) return why_not(fabric_, loads);
        return to_placement(fabric_, loads, *std::move(found));
    } catch (const std::bad_alloc&) {
        return Error{Code::internal, "out of memory"};
    }
}

Expected<Placement> place(const topo::Fabric& fabric, const Snapshot& snapshot, const Request& request) {
    return Placer(fabric).place(snapshot, request);
}

} // namespace sched
