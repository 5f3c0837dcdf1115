// A rail that one of the chosen hosts lacks is misaligned, all others meet. So more and more rails are given
// up, in every combination (way) that candidates lack, and the search is narrowed to the hosts that lack no
// other. What holds the gang holds it with more rails given up, too: what a failed way gives up no less of
// fails as well. Most ways are settled by bounds that look at the hosts that lack rails alone, and at nothing
// else a way changes.
#include "sched/lacking.hpp"

#include "sched/align.hpp"
#include "sched/search_tier.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <tuple>

namespace sched {
namespace {

// Upper bounds on what so many units in so many pods hold: whatever a unit and a pod are said to cost
// (Lagrange), units × cost + pods × cost + what each pod's units hold above both is no less than what any
// such choice holds. Worked out for the hosts that lack no rail; a way adds hosts to some units.
class Bounds {
public:
    struct Host {
        std::uint32_t host = 0, unit = 0;
        std::uint64_t lacks = 0;
    };

    // `barred`: what a host that is not used counts in a unit that is; 0 bounds the hosts held, more the
    // hosts held less that many times the unit's hosts that are left out for the rails they lack.
    Bounds(const Loads& loads, const std::vector<Host>& hosts, Limits limits, std::int32_t barred)
        : loads_(loads), hosts_(hosts), limits_(limits), barred_(barred) {
        for (const auto& load : loads.units())
            sizes_.push_back(static_cast<std::int32_t>(load.candidates));
        for (const auto& host : hosts)
            sizes_[host.unit] -= 1 + barred;
        added_.assign(sizes_.size(), 0);
        choose_prices();
    }

    // No choice of candidates that lack no other rails than these holds more.
    std::int64_t most(std::uint64_t way) {
        touched_.clear();
        for (const auto& host : hosts_) {
            if ((host.lacks & ~way) != 0) continue;
            if (added_[host.unit]++ == 0) touched_.push_back(host.unit);
        }
        auto most = std::numeric_limits<std::int64_t>::max();
        for (auto& prices : prices_)
            most = std::min(most, most_at(prices));
        for (const auto unit : touched_)
            added_[unit] = 0;
        return most;
    }

private:
    struct Prices {
        std::int32_t unit = 0;
        std::int64_t pod = 0;
        std::vector<std::int64_t> above; // by pod: what its units hold above the cost of a unit
        std::int64_t sum = 0;            // the bound where no host that lacks a rail is used
    };

    static std::int64_t above(std::int64_t held, std::int64_t cost) { return held > cost ? held - cost : 0; }

    // The bound is convex in the cost of a unit: the costs next to the lowest are those that bound best.
    void choose_prices() {
        constexpr std::size_t kept = 3;
        for (std::int32_t cost = 0;; ++cost) {
            prices_.push_back(prices_at(cost));
            const auto count = prices_.size();
            if (count > kept && prices_[count - 1].sum >= prices_[count - 2].sum &&
                prices_[count - 2].sum >= prices_[count - 3].sum)
                break;
            if (count > kept) prices_.erase(prices_.begin());
        }
    }

    Prices prices_at(std::int32_t cost) const {
        Prices prices{cost, 0, {}, 0};
        const auto& index = loads_.index();
        for (const auto& pod : index.pods) {
            std::int64_t sum = 0;
            for (auto u = pod.first; u < pod.first + pod.size; ++u)
                sum += above(sizes_[u], cost);
            prices.above.push_back(sum);
        }
        auto sorted = prices.above;
        const auto last = std::min<std::size_t>(limits_.pods, sorted.size()) - 1;
        std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(last), sorted.end(),
                         std::greater<>());
        prices.pod = sorted[last];
        prices.sum = std::int64_t{cost} * limits_.units + prices.pod * limits_.pods;
        for (const auto held : prices.above)
            prices.sum += above(held, prices.pod);
        return prices;
    }

    std::int64_t most_at(Prices& prices) const {
        // Each touched unit raises its pod, and only the pod's sum above its cost counts.
        auto most = prices.sum;
        const auto& index = loads_.index();
        for (const auto unit : touched_) {
            auto& held = prices.above[index.units[unit].pod];
            const auto size = sizes_[unit];
            const auto more =
                above(size + added_[unit] * (1 + barred_), prices.unit) - above(size, prices.unit);
            most += above(held + more, prices.pod) - above(held, prices.pod);
            held += more;
        }
        for (const auto unit : touched_) {
            const auto size = sizes_[unit];
            prices.above[index.units[unit].pod] -=
                above(size + added_[unit] * (1 + barred_), prices.unit) - above(size, prices.unit);
        }
        return most;
    }

    const Loads& loads_;
    const std::vector<Host>& hosts_;
    const Limits limits_;
    const std::int32_t barred_;
    std::vector<std::int32_t> sizes_; // by unit
    std::vector<Prices> prices_;
    std::vector<std::int32_t> added_;    // by unit
    std::vector<std::uint32_t> touched_; // units
};

class Lacking {
public:
    // False: not for candidates such as these.
    bool read() {
        const auto& index = loads_.index();
        if (tier_ == everywhere) return false;
        for (const auto h : index.irregular_hosts[tier_]) {
            if (!loads_.candidate(h)) continue;
            if (index.elsewhere(h, tier_)) return false;
            hosts_.push_back({h, index.unit_of[h], index.lacks[h]});
            required_ |= loads_.is_required(h) ? index.lacks[h] : 0;
            if (!budget_.spend(10 + ways_.size())) return true; // run() has nothing to spend
            if (!add_ways(index.lacks[h])) return false;
        }
        order_ways();
        return true;
    }

    // `found` has the least of the terms behind alignment, so only fewer misaligned rails are better.
    void run(Found& found) {
        if (!budget_.spend(8 * loads_.units().size())) return;
        Bounds held(loads_, hosts_, limits_, 0), paid(loads_, hosts_, limits_, 1);
        std::optional<Found> best;
        std::vector<Way> open; // of as many rails
        std::uint32_t rails = 0;
        const auto fewer = widest(held, found.misaligned);
        for (const auto way : fewer) {
            const auto dropped = static_cast<std::uint32_t>(std::popcount(way));
            if (dropped > rails) {
                best = best_of(open);
                if (best) break;
                open.clear();
                rails = dropped;
            }
            if (!budget_.spend(1 + failed_.size() + 12 * hosts_.size())) break;
            if (fails(way) || !may_hold(held, way)) continue;
            // Units that are used lose the hosts that are left out: so many stay behind at least.
            const auto short_of = static_cast<std::int64_t>(loads_.request().nodes) - paid.most(way);
            open.push_back({way, static_cast<std::uint32_t>(std::max<std::int64_t>(short_of, 0))});
        }
        if (!best) best = best_of(open);
        if (!best) return;
        best->misaligned = misaligned_rails(loads_.index(), best->hosts, best->tier);
        if (best->misaligned < found.misaligned) found = std::move(*best);
    }

    Lacking(const Loads& loads, const Found& found, Budget& budget)
        : loads_(loads), budget_(budget), tier_(found.tier), limits_{found.pods, found.units} {}

private:
    struct Way {
        std::uint64_t rails = 0; // given up
        std::uint32_t left = 0;  // free hosts that stay behind at least
    };

    // Adds the combinations of rails that hosts can lack together.
    bool add_ways(std::uint64_t lacks) {
        if (std::find(ways_.begin(), ways_.end(), lacks) != ways_.end()) return true;
        budget_.spend(ways_.size() * ways_.size() / 4);
        for (std::size_t i = 0, known = ways_.size(); i < known; ++i)
            if (const auto both = ways_[i] | lacks;
                std::find(ways_.begin(), ways_.end(), both) == ways_.end())
                ways_.push_back(both);
        return ways_.size() <= most_ways;
    }

    // Those that give up the fewest rails first.
    void order_ways() {
        std::vector<std::pair<int, std::uint64_t>> counted;
        for (const auto way : ways_)
            counted.emplace_back(std::popcount(way), way);
        std::stable_sort(counted.begin(), counted.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t i = 0; i < ways_.size(); ++i)
            ways_[i] = counted[i].second;
    }

    // The ways that give up fewer rails; none when not even the widest of them may hold the gang.
    std::vector<std::uint64_t> widest(Bounds& held, std::uint32_t misaligned) {
        std::vector<std::uint64_t> fewer(
            ways_.begin(), std::find_if(ways_.begin(), ways_.end(), [&](std::uint64_t way) {
                return static_cast<std::uint32_t>(std::popcount(way)) >= misaligned;
            }));
        std::vector<std::uint64_t> seen;
        bool any = false;
        for (auto way = fewer.rbegin(); way != fewer.rend(); ++way) {
            if (!budget_.spend(1 + seen.size())) break;
            if (std::any_of(seen.begin(), seen.end(), [&](auto wide) { return (*way & ~wide) == 0; }))
                continue;
            seen.push_back(*way);
            if (!budget_.spend(8 * hosts_.size())) break;
            any = may_hold(held, *way) || any;
        }
        if (!any && budget_.left() > 0) fewer.clear();
        return fewer;
    }

    bool fails(std::uint64_t way) const {
        return std::any_of(failed_.begin(), failed_.end(), [&](auto wide) { return (way & ~wide) == 0; });
    }

    // False: it does not. What cannot is kept for the ways that give up less.
    bool may_hold(Bounds& held, std::uint64_t way) {
        if ((required_ & ~way) == 0 && held.most(way) >= static_cast<std::int64_t>(loads_.request().nodes))
            return true;
        failed_.push_back(way);
        return false;
    }

    // The best that ways of as many rails hold; those first that must leave the least behind.
    std::optional<Found> best_of(std::vector<Way>& open) {
        std::stable_sort(open.begin(), open.end(),
                         [](const Way& a, const Way& b) { return a.left < b.left; });
        const auto order = [](const Found& f) { return std::tuple(f.avoidance, f.broken, f.left); };
        std::optional<Found> best;
        for (const auto& way : open) {
            if (best && order(*best) <= std::tuple(0U, 0U, way.left)) break;
            if (!budget_.spend(loads_.index().order.size() / 4 + 8 * hosts_.size())) break;
            auto tried = best_of(way.rails);
            if (tried && (!best || order(*tried) < order(*best))) best = std::move(tried);
        }
        return best;
    }

    std::optional<Found> best_of(std::uint64_t way) {
        std::vector<std::uint32_t> others;
        for (const auto& host : hosts_)
            if ((host.lacks & ~way) != 0) others.push_back(host.host);
        const Loads narrowed(loads_, others);
        auto tried = search_tier(narrowed, tier_, budget_, limits_);
        if (!tried || tried->pods != limits_.pods || tried->units != limits_.units) return std::nullopt;
        fill_hosts(narrowed, *tried);
        return tried;
    }

    static constexpr std::size_t most_ways = 1024;
    const Loads& loads_;
    Budget& budget_;
    const Tier tier_;
    const Limits limits_;
    std::vector<Bounds::Host> hosts_; // candidates that lack rails
    std::uint64_t required_ = 0;      // rails that required hosts lack
    std::vector<std::uint64_t> ways_{0};
    std::vector<std::uint64_t> failed_;
};

} // namespace

bool align_lacking(const Loads& loads, Found& found, Budget& budget) {
    Lacking lacking(loads, found, budget);
    if (!lacking.read()) return false;
    lacking.run(found);
    return true;
}

} // namespace sched
