#include "sched/placing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sched {
namespace {

// Assigning {} would not release the memory.
template <class Container> void drop(Container& from) {
    Container().swap(from);
}

} // namespace

Placing::Placing(topo::Fabric&& from, std::uint32_t floor)
    : fabric(std::move(from)), placer(fabric), spare_floor(floor) {
    drop(fabric.links);
    drop(fabric.switches);
    for (auto& host : fabric.hosts) {
        drop(host.hcas);
        drop(host.gpus);
        drop(host.leaves);
    }
    // What is kept must be in few allocations: memory around many small ones cannot be returned.
    drop(fabric.host_index);
    by_name_.resize(fabric.hosts.size());
    std::iota(by_name_.begin(), by_name_.end(), 0U);
    std::ranges::sort(by_name_, {},
                      [&](std::uint32_t h) -> std::string_view { return fabric.hosts[h].name; });
}

std::optional<std::uint32_t> Placing::find_host(std::string_view name) const {
    const auto at = std::ranges::lower_bound(
        by_name_, name, {}, [&](std::uint32_t h) -> std::string_view { return fabric.hosts[h].name; });
    if (at == by_name_.end() || fabric.hosts[*at].name != name) return std::nullopt;
    return *at;
}

} // namespace sched
