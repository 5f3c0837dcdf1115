#include "sched/search/found.hpp"

namespace sched {

Tier widest_tier(Span span) {
    switch (span) {
    case Span::domain:
    case Span::unit: return one_unit;
    case Span::pod: return one_pod;
    case Span::fabric: return one_island;
    case Span::any: break;
    }
    return everywhere;
}

void fill_hosts(const Loads& loads, Found& found) {
    found.hosts.clear();
    found.hosts.reserve(loads.request().nodes + loads.index().largest_unit);
    for (const auto& share : found.shares)
        loads.take(share, found.hosts);
    if (!found.shares.empty()) return;
    for (std::size_t i = 0; i < found.taken.size(); ++i) {
        const auto& [unit, count] = found.taken[i];
        if (found.idle.empty())
            loads.take(unit, count, found.hosts);
        else
            loads.take(unit, count, found.idle[i], found.hosts);
    }
}

} // namespace sched
