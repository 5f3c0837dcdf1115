// If it is cheap, one search with a penalty on every host that the job did not have. Otherwise up to three
// searches: the first ignores the previous hosts and sets the bar for the more important terms; the second
// requires all of them, which is best if it meets that bar, as when one host of a gang is replaced; the third
// puts a penalty on every other host.
#include "sched/search/keep.hpp"

#include "sched/search/align.hpp"
#include "sched/search/fit.hpp"
#include "sched/search/nested_fit.hpp"
#include "sched/search/search.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

namespace sched {
namespace {

// The terms that are more important than the hosts that are kept.
auto bar_of(const Found& found) {
    return std::tuple(found.tier, found.pods, found.units, found.domains, found.misaligned, found.avoidance);
}
auto order_of(const Found& found) {
    return std::tuple_cat(bar_of(found), std::tuple(found.moved), behind_rails(found));
}

// The available hosts in `had`, each once.
std::vector<std::uint32_t> keepable(const Loads& loads) {
    std::vector<std::uint32_t> hosts;
    for (const auto h : loads.request().had)
        if (loads.candidate(h)) hosts.push_back(h);
    if (!std::is_sorted(hosts.begin(), hosts.end())) std::sort(hosts.begin(), hosts.end());
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    return hosts;
}

// The number of keepable hosts in each unit and pod: bounds on how many are kept by places as good as `bar`.
class KeptCounts {
public:
    KeptCounts(const Loads& loads, const std::vector<std::uint32_t>& kept)
        : loads_(loads), units_(loads.units().size(), 0), pods_(loads.index().pods.size(), 0) {
        for (const auto h : kept) {
            const auto unit = loads.index().unit_of[h];
            ++units_[unit];
            ++pods_[loads.index().units[unit].pod];
        }
    }

    // A lower bound on the hosts new to the job in any place with that few pods and units.
    std::uint32_t least_moved(const Found& bar) const {
        const auto nodes = loads_.request().nodes;
        return nodes - std::min({nodes, largest(units_, bar.units), largest(pods_, bar.pods)});
    }

    // Whether a place in that few pods and units may keep all of them.
    bool may_keep_all(const Found& bar) const {
        std::uint32_t units = 0, held = 0;
        const auto pods = static_cast<std::uint32_t>(
            std::count_if(pods_.begin(), pods_.end(), [](auto count) { return count > 0; }));
        std::vector<std::uint32_t> others;
        for (std::uint32_t u = 0; u < units_.size(); ++u) {
            const auto candidates = loads_.unit(u).candidates;
            if (units_[u] > 0) {
                ++units;
                held += candidates;
            } else if (pods < bar.pods || pods_[loads_.index().units[u].pod] > 0) {
                others.push_back(candidates);
            }
        }
        return pods <= bar.pods && units <= bar.units &&
               held + largest(std::move(others), bar.units - units) >= loads_.request().nodes;
    }

private:
    // The sum of the `count` largest.
    static std::uint32_t largest(std::vector<std::uint32_t> values, std::size_t count) {
        count = std::min(count, values.size());
        const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
        std::nth_element(values.begin(), end, values.end(), std::greater<>());
        return std::accumulate(values.begin(), end, 0U);
    }

    const Loads& loads_;
    std::vector<std::uint32_t> units_, pods_;
};

// The same number of hosts in each unit, keepable ones first, as preferred by these loads. Health cannot
// become worse, but rails can: then the first choice remains.
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

// The best placement that includes all keepable hosts.
std::optional<Found> search_with_all(const Loads& loads, const std::vector<std::uint32_t>& kept,
                                     Budget& budget) {
    auto request = loads.request();
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

// Whether the search with a penalty costs little more than the one without (Fields::settled_last).
bool counted_last(const Loads& keeping) {
    return keeping.keeps() && keeping.snapshot().health.empty() && keeping.required() == 0 &&
           keeping.quantum() == 1 && !keeping.segmented() && !keeping.idle_bound() &&
           !is_nested(keeping.index(), keeping.steps(), keeping.request().span) &&
           std::none_of(keeping.units().begin(), keeping.units().end(),
                        [](const UnitLoad& load) { return load.whole; });
}

} // namespace

std::uint32_t moved_hosts(const Request& request, const std::vector<std::uint32_t>& hosts) {
    if (request.had.empty()) return 0;
    std::vector<std::uint8_t> had(*std::max_element(request.had.begin(), request.had.end()) + std::size_t{1},
                                  0);
    for (const auto h : request.had)
        had[h] = 1;
    return static_cast<std::uint32_t>(std::count_if(
        hosts.begin(), hosts.end(), [&](std::uint32_t h) { return h >= had.size() || had[h] == 0; }));
}

std::optional<Found> search_keeping(const Loads& loads, Budget& budget) {
    const Loads keeping(loads.index(), loads.snapshot(), loads.request(), nullptr, true);
    // If it fails, its steps are charged after the search without `had`, which must not be limited by it.
    Budget attempt(counted_last(keeping) ? budget.left() / 8 : 0);
    if (attempt.left() > 0) {
        auto found = search_with_penalty(keeping, attempt);
        if (attempt.cuts() == 0) {
            budget.spend(attempt.spent());
            return found;
        }
    }
    auto best = search(loads, budget);
    budget.spend(attempt.spent());
    if (!best) return best;
    const auto kept = keepable(loads);
    best->moved = moved_hosts(loads.request(), best->hosts);
    const KeptCounts counts(loads, kept);
    const auto least = counts.least_moved(*best);
    if (best->moved == least) return best;
    if (!keeping.keeps()) {
        budget.cut();
        return best;
    }
    prefer_kept(keeping, *best);
    if (best->moved == least) return best; // as good in all other terms as without them
    const auto bar = bar_of(*best);
    if (counts.may_keep_all(*best))
        if (auto all = search_with_all(loads, kept, budget); all && bar_of(*all) <= bar) return all;
    if (auto other = search_with_penalty(keeping, budget); other && order_of(*other) < order_of(*best))
        best = std::move(other);
    return best;
}

} // namespace sched
