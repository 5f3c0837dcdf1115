// A rail that one of the chosen hosts lacks is misaligned, all others meet. So is one that meets elsewhere on
// too few hosts to form the gang alone: one of the others is always included. Below, such a rail counts as
// lacking. So more and more rails are given up, in every combination (way) that candidates lack, and the
// search is narrowed to the hosts that lack no other rail. What holds the gang also holds it with more rails
// given up: if a way fails, so do all ways that give up a subset of its rails. Most ways are decided by
// bounds on the hosts that lack rails alone.
#include "sched/search/lacking.hpp"

#include "sched/search/align.hpp"
#include "sched/search/bounds.hpp"
#include "sched/search/search_tier.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>

namespace sched {
namespace {

// Upper bounds on what that many units in that many pods hold: for any price of a unit and of a pod
// (Lagrange), units × price + pods × price + what each pod's units hold above both is an upper bound.
// Computed for the hosts that lack no rail; a way adds hosts to some units.
class Bounds {
public:
    struct Host {
        std::uint32_t host = 0, unit = 0;
        std::uint64_t lacks = 0;
        std::uint32_t kind = 0; // those that lack the same rails are of one kind
    };

    // What is bounded: `used` times the hosts held, minus `barred` times the hosts of the units used that are
    // left out because of the rails they lack.
    struct Weights {
        std::int32_t used = 1, barred = 0;
    };

    // `near`: the price of a unit, in hosts, near which the bound is lowest.
    Bounds(const Loads& loads, const std::vector<Host>& hosts, const std::vector<std::uint64_t>& kinds,
           const Limits& limits, std::uint32_t near, Weights weights)
        : loads_(loads), hosts_(hosts), kinds_(kinds), limits_(limits), weights_(weights),
          gain_(weights.used + weights.barred) {
        for (const auto& load : loads.units())
            sizes_.push_back(static_cast<std::int32_t>(load.candidates) * weights.used);
        for (const auto& host : hosts)
            sizes_[host.unit] -= gain_;
        added_.assign(sizes_.size(), 0);
        choose_prices(static_cast<std::int32_t>(near) * weights.used);
        for (auto& prices : prices_)
            add_kinds(prices);
    }

    // False: no choice of candidates that lack no rails outside this way holds as much as `enough`. Costs
    // some nanoseconds per kind.
    bool may_reach(std::uint64_t way, std::int64_t enough) const {
        return std::all_of(prices_.begin(), prices_.end(), [&](const Prices& prices) {
            auto most = prices.sum;
            for (std::size_t k = 0; k < kinds_.size(); ++k)
                if ((kinds_[k] & ~way) == 0) most += prices.of_kind[k];
            return most >= enough;
        });
    }

    // The fewest other hosts that a choice of candidates lacking no rails outside this way leaves behind: at
    // least what the units used are short of to hold the gang.
    std::uint32_t least_barred(std::uint64_t way) {
        const auto short_of = std::int64_t{loads_.request().nodes} * weights_.used - most(way);
        return short_of <= 0 ? 0
                             : static_cast<std::uint32_t>((short_of + weights_.barred - 1) / weights_.barred);
    }

    // An upper bound on what any choice of candidates that lack no rails outside this way holds; not
    // tightened below `enough`.
    std::int64_t most(std::uint64_t way, std::int64_t enough = std::numeric_limits<std::int64_t>::min()) {
        touched_.clear();
        for (const auto& host : hosts_) {
            if ((host.lacks & ~way) != 0) continue;
            if (added_[host.unit]++ == 0) touched_.push_back(host.unit);
        }
        auto most = std::numeric_limits<std::int64_t>::max();
        for (auto& prices : prices_)
            if (most >= enough) most = std::min(most, most_at(prices));
        for (const auto unit : touched_)
            added_[unit] = 0;
        return most;
    }

private:
    struct Prices {
        std::int32_t unit = 0;
        std::int64_t pod = 0;
        std::vector<std::int64_t> above;   // by pod: what its units hold above the price of a unit
        std::int64_t sum = 0;              // the bound if no host that lacks a rail is used
        std::vector<std::int64_t> of_kind; // by kind: its hosts raise the bound by no more
    };

    static std::int64_t above(std::int64_t held, std::int64_t cost) { return held > cost ? held - cost : 0; }

    // The bound is convex in the price of a unit: the prices next to the lowest give the best bounds.
    void choose_prices(std::int32_t near) {
        auto best = prices_at(near);
        for (const auto step : {1, -1})
            while (best.unit + step >= 0) {
                auto next = prices_at(best.unit + step);
                if (next.sum >= best.sum) break;
                best = std::move(next);
            }
        const auto unit = best.unit;
        prices_.push_back(std::move(best));
        prices_.push_back(prices_at(unit + 1));
        if (unit > 0) prices_.push_back(prices_at(unit - 1));
    }

    Prices prices_at(std::int32_t cost) const {
        Prices prices{cost, 0, {}, 0, {}};
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

    // A host raises the bound most if it is added last: what is above a price is convex.
    void add_kinds(Prices& prices) {
        const auto& index = loads_.index();
        auto pods = prices.above;
        for (const auto& host : hosts_)
            ++added_[host.unit];
        for (const auto& host : hosts_) {
            auto& added = added_[host.unit];
            if (added == 0) continue; // done
            pods[index.units[host.unit].pod] +=
                above(sizes_[host.unit] + added * gain_, prices.unit) - above(sizes_[host.unit], prices.unit);
            added = 0;
        }
        for (const auto& host : hosts_)
            ++added_[host.unit];
        prices.of_kind.assign(kinds_.size(), 0);
        for (const auto& host : hosts_) {
            const auto size = sizes_[host.unit] + added_[host.unit] * gain_;
            const auto held = pods[index.units[host.unit].pod];
            const auto less = held - above(size, prices.unit) + above(size - gain_, prices.unit);
            prices.of_kind[host.kind] += above(held, prices.pod) - above(less, prices.pod);
        }
        for (const auto& host : hosts_)
            added_[host.unit] = 0;
    }

    std::int64_t most_at(Prices& prices) const {
        // Each touched unit raises its pod, and only the pod's sum above its price counts.
        auto most = prices.sum;
        const auto& index = loads_.index();
        for (const auto unit : touched_) {
            auto& held = prices.above[index.units[unit].pod];
            const auto size = sizes_[unit];
            const auto more = above(size + added_[unit] * gain_, prices.unit) - above(size, prices.unit);
            most += above(held + more, prices.pod) - above(held, prices.pod);
            held += more;
        }
        for (const auto unit : touched_) {
            const auto size = sizes_[unit];
            prices.above[index.units[unit].pod] -=
                above(size + added_[unit] * gain_, prices.unit) - above(size, prices.unit);
        }
        return most;
    }

    const Loads& loads_;
    const std::vector<Host>& hosts_;
    const std::vector<std::uint64_t>& kinds_; // what hosts of each kind lack
    const Limits limits_;
    const Weights weights_;
    const std::int32_t gain_;         // of a unit, by one host that lacks a rail and may be used
    std::vector<std::int32_t> sizes_; // by unit
    std::vector<Prices> prices_;
    std::vector<std::int32_t> added_;    // by unit
    std::vector<std::uint32_t> touched_; // units
};

class Lacking {
public:
    // False: not applicable to these candidates.
    bool read() {
        const auto& index = loads_.index();
        if (tier_ == everywhere || index.rails > 64) return false;
        std::vector<std::uint32_t> elsewhere(index.units.size(), 0); // candidates by part of the tier
        for (const auto h : index.irregular_hosts[tier_]) {
            if (!loads_.candidate(h)) continue;
            if (index.elsewhere(h, tier_) && ++elsewhere[part_of(h)] >= loads_.request().nodes)
                families_ = true;
            const auto lacks = index.differs(h, tier_);
            const auto kind = std::find(kinds_.begin(), kinds_.end(), lacks) - kinds_.begin();
            hosts_.push_back({h, index.unit_of[h], lacks, static_cast<std::uint32_t>(kind)});
            required_ |= loads_.is_required(h) ? lacks : 0;
            if (!budget_.spend(10 + kinds_.size())) return true; // run() has no budget either
            if (hosts_.back().kind == kinds_.size()) kinds_.push_back(lacks);
            if (families_ && kinds_.size() > most_kinds) return false;
        }
        if (tier_ == one_unit) group_by_unit();
        return true;
    }

    // `found` has the least of the terms after alignment, so only fewer misaligned rails are better. False:
    // hosts lack rails in too many combinations, or those that meet elsewhere may form a gang.
    bool run(Found& found) {
        if (!budget_.spend(8 * loads_.units().size())) return true;
        std::uint32_t near = 0;
        std::optional<Bounds> held; // in one unit it is known exactly
        if (tier_ != one_unit) {
            near = fewest_units(stock(), limits_.pods, loads_.request().nodes).cost;
            held.emplace(loads_, hosts_, kinds_, limits_, near, Bounds::Weights{1, 0});
        }
        auto best = best_without(held, near);
        if (families_ && (!best || behind_rails(*best) != behind_rails(found))) return false;
        if (!best) {
            if (!list_ways()) return false;
            best = best_with_fewest(held, near, found.misaligned);
        }
        if (!best) return true;
        best->misaligned = misaligned_rails(loads_.index(), best->hosts, best->tier);
        if (best->misaligned < found.misaligned) found = std::move(*best);
        return true;
    }

    Lacking(const Loads& loads, const Found& found, Budget& budget)
        : loads_(loads), budget_(budget), tier_(found.tier), limits_{found.pods, found.units} {}

private:
    struct Way {
        std::uint64_t rails = 0; // given up
        std::uint32_t left = 0;  // fewest free hosts left behind
    };

    std::uint32_t part_of(std::uint32_t host) const {
        const auto& index = loads_.index();
        const auto unit = index.unit_of[host];
        if (tier_ == one_unit) return unit;
        return tier_ == one_pod ? index.units[unit].pod : index.pods[index.units[unit].pod].island;
    }

    // The best choice of hosts that lack no rail.
    std::optional<Found> best_without(std::optional<Bounds>& held, std::uint32_t near) {
        const auto left = may_hold(held, 0);
        if (!left) return std::nullopt;
        std::vector<Way> whole{{0, *left}};
        auto best = best_of(whole, near);
        if (!best) failed_.push_back(0);
        return best;
    }

    // The best choice that gives up the fewest rails, fewer than are misaligned already.
    std::optional<Found> best_with_fewest(std::optional<Bounds>& held, std::uint32_t near,
                                          std::uint32_t misaligned) {
        std::optional<Found> best;
        std::vector<Way> open; // with the same number of rails
        std::uint32_t rails = 0;
        for (const auto way : widest(held, misaligned)) {
            const auto dropped = static_cast<std::uint32_t>(std::popcount(way));
            if (dropped > rails) {
                best = best_of(open, near);
                if (best) return best;
                open.clear();
                rails = dropped;
            }
            if (!budget_.spend(1 + failed_.size() + kinds_.size())) break;
            if (fails(way)) continue;
            if (const auto left = may_hold(held, way)) open.push_back({way, *left});
        }
        return best_of(open, near);
    }

    // False: there are too many.
    bool list_ways() {
        for (const auto lacks : kinds_)
            if (!add_ways(lacks)) return false;
        order_ways();
        return true;
    }

    // Adds the combinations of rails that hosts can lack together.
    bool add_ways(std::uint64_t lacks) {
        if (std::find(ways_.begin(), ways_.end(), lacks) != ways_.end()) return true;
        const bool apart = (lacks & lacked_) == 0; // then each combination with it is new
        lacked_ |= lacks;
        budget_.spend(apart ? ways_.size() : ways_.size() * ways_.size() / 4);
        for (std::size_t i = 0, known = ways_.size(); i < known; ++i)
            if (const auto both = ways_[i] | lacks;
                apart || std::find(ways_.begin(), ways_.end(), both) == ways_.end())
                ways_.push_back(both);
        return ways_.size() <= most_ways;
    }

    // Those that give up the fewest rails first.
    void order_ways() {
        std::array<std::size_t, 66> next{}; // by rails: position of the next way
        for (const auto way : ways_)
            ++next[static_cast<std::size_t>(std::popcount(way)) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        std::vector<std::uint64_t> ordered(ways_.size());
        for (const auto way : ways_)
            ordered[next[static_cast<std::size_t>(std::popcount(way))]++] = way;
        ways_ = std::move(ordered);
    }

    // The ways that give up fewer rails; none if not even the widest of them may hold the gang.
    std::vector<std::uint64_t> widest(std::optional<Bounds>& held, std::uint32_t misaligned) {
        std::vector<std::uint64_t> fewer(
            ways_.begin(), std::find_if(ways_.begin(), ways_.end(), [&](std::uint64_t way) {
                return static_cast<std::uint32_t>(std::popcount(way)) >= misaligned;
            }));
        std::vector<std::uint64_t> seen;
        for (auto way = fewer.rbegin(); way != fewer.rend(); ++way) {
            if (!budget_.spend(1 + seen.size())) return fewer;
            if (std::any_of(seen.begin(), seen.end(), [&](auto wide) { return (*way & ~wide) == 0; }))
                continue;
            seen.push_back(*way);
            if (!budget_.spend(kinds_.size()) || may_hold(held, *way)) return fewer;
        }
        return {};
    }

    bool fails(std::uint64_t way) const {
        return std::any_of(failed_.begin(), failed_.end(), [&](auto wide) { return (way & ~wide) == 0; });
    }

    // The fewest free hosts it leaves behind. nullopt: it does not hold the gang, which is recorded for the
    // ways that give up fewer rails.
    std::optional<std::uint32_t> may_hold(std::optional<Bounds>& held, std::uint64_t way) {
        const std::int64_t nodes = loads_.request().nodes;
        std::optional<std::uint32_t> left;
        if ((required_ & ~way) == 0 && !held) {
            left = left_in_one_unit(way);
        } else if ((required_ & ~way) == 0 && held->may_reach(way, nodes)) {
            budget_.spend(8 * hosts_.size());
            if (held->most(way, nodes) >= nodes) left = 0;
        }
        if (!left) failed_.push_back(way);
        return left;
    }

    // Sorts hosts so that those of one unit are adjacent.
    void group_by_unit() {
        std::stable_sort(hosts_.begin(), hosts_.end(),
                         [](const auto& a, const auto& b) { return a.unit < b.unit; });
        auto host = hosts_.begin();
        for (std::uint32_t u = 0; u < loads_.units().size(); ++u) {
            const auto first = host;
            host = std::find_if(first, hosts_.end(), [&](const auto& h) { return h.unit != u; });
            const auto& load = loads_.unit(u);
            if (load.candidates < loads_.request().nodes || load.required != loads_.required()) continue;
            units_.push_back({std::span(first, host), load.candidates, load.free});
        }
    }

    // What is left in the unit that holds the gang most tightly. nullopt: none holds it.
    std::optional<std::uint32_t> left_in_one_unit(std::uint64_t way) {
        budget_.spend(units_.size() + hosts_.size());
        const auto nodes = loads_.request().nodes;
        std::optional<std::uint32_t> least;
        for (const auto& unit : units_) {
            const auto barred = std::count_if(unit.hosts.begin(), unit.hosts.end(),
                                              [&](const auto& host) { return (host.lacks & ~way) != 0; });
            if (unit.candidates - static_cast<std::uint32_t>(barred) < nodes) continue;
            least = std::min(least.value_or(unit.free - nodes), unit.free - nodes);
        }
        return least;
    }

    // Bounds with other weights show that some ways leave more behind.
    void find_barred(std::vector<Way>& open, std::uint32_t near) {
        using Weights = Bounds::Weights;
        for (const auto weights : {Weights{1, 1}, Weights{1, 4}, Weights{1, 2}, Weights{4, 1}}) {
            if (!budget_.spend(8 * loads_.units().size() + 12 * hosts_.size() * open.size())) return;
            Bounds paid(loads_, hosts_, kinds_, limits_, near, weights);
            for (auto& way : open)
                way.left = std::max(way.left, paid.least_barred(way.rails));
            if (open.size() == 1) return;
        }
    }

    Stock stock() const {
        Stock stock;
        const auto& index = loads_.index();
        for (const auto& pod : index.pods) {
            for (auto u = pod.first; u < pod.first + pod.size; ++u)
                stock.held.push_back(loads_.unit(u).candidates);
            stock.ends.push_back(stock.held.size());
        }
        return stock;
    }

    // The best that ways with the same number of rails hold; those that must leave the least behind first.
    std::optional<Found> best_of(std::vector<Way>& open, std::uint32_t near) {
        if (open.empty()) return std::nullopt;
        if (tier_ != one_unit) find_barred(open, near);
        std::stable_sort(open.begin(), open.end(),
                         [](const Way& a, const Way& b) { return a.left < b.left; });
        const auto order = [](const Found& f) { return std::tuple(f.avoidance, f.broken, f.left); };
        std::optional<Found> best;
        for (const auto& way : open) {
            if (best && order(*best) <= std::tuple(0U, 0U, way.left)) break;
            if (!budget_.spend(loads_.index().order.size() / 4 + 8 * hosts_.size())) break;
            const Loads narrowed(loads_, others(way));
            auto tried = search_tier(narrowed, tier_, budget_, {limits_.pods, limits_.units, way.left});
            if (!tried || tried->pods != limits_.pods || tried->units != limits_.units) continue;
            if (best && order(*tried) >= order(*best)) continue;
            fill_hosts(narrowed, *tried);
            best = std::move(tried);
        }
        return best;
    }

    // The hosts that lack other rails than those the way gives up.
    std::vector<std::uint32_t> others(const Way& way) const {
        std::vector<std::uint32_t> others;
        for (const auto& host : hosts_)
            if ((host.lacks & ~way.rails) != 0) others.push_back(host.host);
        return others;
    }

    static constexpr std::size_t most_ways = 1024;
    static constexpr std::size_t most_kinds = 64; // if many hosts meet elsewhere
    const Loads& loads_;
    Budget& budget_;
    const Tier tier_;
    const Limits limits_;
    std::vector<Bounds::Host> hosts_;  // candidates that lack rails
    std::vector<std::uint64_t> kinds_; // what they lack, each once
    // For a gang in one unit: units that may hold it, and which of their candidates lack rails.
    struct UnitHosts {
        std::span<const Bounds::Host> hosts;
        std::uint32_t candidates = 0, free = 0;
    };
    std::vector<UnitHosts> units_;
    std::uint64_t required_ = 0; // rails that required hosts lack
    bool families_ = false;      // in some part, as many hosts as the gang has meet elsewhere
    std::vector<std::uint64_t> ways_{0};
    std::uint64_t lacked_ = 0; // rails in ways_
    std::vector<std::uint64_t> failed_;
};

} // namespace

bool align_lacking(const Loads& loads, Found& found, Budget& budget) {
    Lacking lacking(loads, found, budget);
    return lacking.read() && lacking.run(found);
}

} // namespace sched
