// Three searches, each of which may end it: without regard to the hosts it had, which sets the bar for the
// terms that matter more; with all of them required, which is best where it meets that bar, as when one host
// of a gang is replaced; and with a penalty on every other host.
#include "sched/keep.hpp"

#include "sched/align.hpp"
#include "sched/fit.hpp"
#include "sched/search.hpp"

#include <algorithm>
#include <tuple>

namespace sched {
namespace {

// What matters more than the hosts that are kept.
auto bar_of(const Found& found) {
    return std::tuple(found.tier, found.pods, found.units, found.domains, found.misaligned, found.avoidance);
}
auto order_of(const Found& found) {
    return std::tuple_cat(bar_of(found), std::tuple(found.moved), behind_rails(found));
}

// The hosts of `had` that may be taken, each once.
std::vector<std::uint32_t> keepable(const Loads& loads) {
    std::vector<std::uint32_t> hosts;
    for (const auto h : loads.request().had)
        if (loads.candidate(h)) hosts.push_back(h);
    std::sort(hosts.begin(), hosts.end());
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    return hosts;
}

// The same number of hosts of each unit, those that can be kept first. Health cannot suffer, rails may: then
// the first choice stands.
void prefer_kept(const Loads& loads, Found& found) {
    auto other = found;
    fill_hosts(loads, other);
    other.moved = moved_hosts(loads.request(), other.hosts);
    if (other.moved >= found.moved) return;
    if (found.misaligned != 0 || !loads.index().regular)
        other.misaligned = misaligned_rails(loads.index(), other.hosts, other.tier);
    std::uint64_t avoidance = 0;
    for (const auto h : other.hosts)
        avoidance += loads.avoidance(h);
    other.avoidance = avoidance;
    if (bar_of(other) <= bar_of(found)) found = std::move(other);
}

// The best placement with all that can be kept in it.
std::optional<Found> search_with_all(const Loads& loads, const std::vector<std::uint32_t>& kept,
                                     Budget& budget) {
    auto request = loads.request();
    request.had.clear();
    request.required.insert(request.required.end(), kept.begin(), kept.end());
    const Loads all(loads.index(), loads.snapshot(), request);
    if (all.required() > request.nodes) return std::nullopt;
    if (!largest_that_fits(all, request.nodes, request.nodes)) return std::nullopt;
    auto found = search(all, budget);
    if (found) found->moved = moved_hosts(loads.request(), found->hosts);
    return found;
}

std::optional<Found> search_with_penalty(const Loads& loads, Budget& budget) {
    auto found = search(loads, budget);
    if (!found) return found;
    found->moved = moved_hosts(loads.request(), found->hosts);
    found->avoidance /= loads.penalty_scale();
    return found;
}

} // namespace

std::uint32_t moved_hosts(const Request& request, const std::vector<std::uint32_t>& hosts) {
    if (request.had.empty()) return 0;
    auto had = request.had;
    std::sort(had.begin(), had.end());
    return static_cast<std::uint32_t>(std::count_if(hosts.begin(), hosts.end(), [&](std::uint32_t h) {
        return !std::binary_search(had.begin(), had.end(), h);
    }));
}

std::optional<Found> search_keeping(const Loads& loads, Budget& budget) {
    auto request = loads.request();
    request.had.clear();
    auto best = search(Loads(loads.index(), loads.snapshot(), request), budget);
    if (!best) return best;
    const auto kept = keepable(loads);
    best->moved = moved_hosts(loads.request(), best->hosts);
    const auto nodes = loads.request().nodes;
    const auto least = nodes - std::min(nodes, static_cast<std::uint32_t>(kept.size()));
    if (best->moved == least) return best;
    if (!loads.keeps()) {
        budget.cut();
        return best;
    }
    prefer_kept(loads, *best);
    const auto bar = bar_of(*best);
    if (auto all = search_with_all(loads, kept, budget); all && bar_of(*all) <= bar) return all;
    if (auto other = search_with_penalty(loads, budget); other && order_of(*other) < order_of(*best))
        best = std::move(other);
    return best;
}

} // namespace sched
