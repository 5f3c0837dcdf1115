#include "sched/search/nested.hpp"

#include "sched/ask/segments.hpp"
#include "sched/search/choose.hpp"
#include "sched/search/few_idle.hpp"
#include "sched/search/nested_deal.hpp"
#include "sched/search/nested_program.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace sched {
namespace {

constexpr std::uint32_t low = ~std::uint32_t{0};

Found to_found(const Loads& loads, Tier tier, const NestedCost& cost, std::vector<Share> shares) {
    Found found;
    found.tier = tier;
    found.domains = static_cast<std::uint32_t>(cost.parts & 0xffffff);
    found.avoidance = cost.avoidance;
    found.broken_domains = static_cast<std::uint32_t>(cost.broken >> 32);
    found.broken = static_cast<std::uint32_t>(cost.broken & low);
    found.left_in_domains = static_cast<std::uint32_t>(cost.left >> 32);
    found.left = static_cast<std::uint32_t>(cost.left & low);
    found.shares = std::move(shares);
    const auto& index = loads.index();
    for (const auto& share : found.shares) {
        const auto unit = index.unit_of[index.order[share.first]];
        if (found.taken.empty() || found.taken.back().first != unit) {
            if (found.taken.empty() || index.units[found.taken.back().first].pod != index.units[unit].pod)
                ++found.pods;
            ++found.units;
            found.taken.emplace_back(unit, 0);
        }
        found.taken.back().second += share.hosts;
    }
    return found;
}

Found to_found(const Loads& loads, Tier tier, const NestedCost& cost, const NestedProgram& program) {
    std::vector<Share> shares;
    program.collect(shares);
    return to_found(loads, tier, cost, std::move(shares));
}

std::uint32_t spares_of(const Loads& loads) {
    return loads.steps().any() ? loads.request().spares : 0;
}

// For a place whose cost is not in a table.
Found to_found(const Loads& loads, Tier tier, const NestedParts& parts,
               const std::vector<Portion>& portions) {
    const auto& index = loads.index();
    NestedCost sum;
    std::vector<Share> shares;
    std::vector<std::uint32_t> taken;
    for (const auto& portion : portions) {
        const auto& part = parts.all[portion.part];
        const auto hosts = portion.ranks + portion.spares;
        shares.push_back({part.first, part.size, hosts, 0});
        taken.clear();
        loads.take(shares.back(), taken);
        NestedCost cost = part_cost(index, part, hosts);
        for (const auto h : taken)
            cost.avoidance += loads.penalty(h);
        sum = sum + cost;
    }
    auto found = to_found(loads, tier, sum, std::move(shares));
    for (const auto& [unit, hosts] : found.taken) {
        const auto left = loads.unit(unit).free - hosts;
        found.left += left;
        found.broken += loads.unit(unit).whole && left > 0 ? 1 : 0;
    }
    return found;
}

class Search {
public:
    Search(const Loads& loads, Tier tier, Budget& budget,
           const std::function<std::optional<Found>(bool)>& ordinary)
        : loads_(loads), index_(loads.index()), tier_(tier), budget_(budget), ordinary_(ordinary),
          spares_(spares_of(loads)), ranks_(loads.request().nodes - spares_),
          program_(loads, ranks_, spares_) {}

    std::optional<Found> run() {
        if (tier_ == one_unit) return in_one_unit();
        const bool plain = spares_ == 0 && !loads_.idle_bound() &&
                           loads_.steps().pod == loads_.steps().unit &&
                           (loads_.required() == 0 || !loads_.steps().any());
        std::optional<Found> usual;
        const auto cuts = budget_.cuts();
        const bool counting = plain && loads_.steps() == Steps{} && domains_count(loads_);
        if (plain) {
            usual = ordinary_(counting);
            if (!usual) return usual;
            if (counting && budget_.cuts() == cuts)
                if (auto found = distribute(*usual)) return found;
            if (auto refined = refine(*usual)) {
                if (budget_.cuts() == cuts && proven(*refined, *usual)) return refined;
                usual = std::move(refined);
            } else {
                usual.reset();
            }
        }
        if (usual && !loads_.steps().any() && loads_.required() == 0 && least_work() > budget_.left() / 2) {
            budget_.cut();
            return usual;
        }
        program_.allow(program_.done() + budget_.left() / 2);
        const auto before = program_.done();
        auto found = exact();
        const bool stopped = program_.stopped();
        budget_.spend(program_.done() - before);
        if (!stopped) return found;
        budget_.cut();
        if (usual) return usual;
        if (loads_.idle_bound()) return among_few_idle();
        return greedy();
    }

private:
    std::optional<Found> in_one_unit() {
        const bool in_domain = loads_.request().span == Span::domain;
        std::optional<NestedCost> best;
        std::optional<Found> found;
        const auto units = units_that_may();
        // A search within one domain is cheap, and nothing else shows whether it fits.
        program_.allow(in_domain ? ~std::uint64_t{0} >> 1 : budget_.left());
        std::vector<std::vector<std::uint32_t>> tried;
        for (const auto& [least, free, u] : units) {
            if (best && least > (best->parts & 0xffffff)) break;
            if (best) program_.allow(budget_.left());
            if (program_.stopped()) break;
            if (auto look = look_of(u); !look.empty()) { // a unit with the same look holds nothing better
                if (std::find(tried.begin(), tried.end(), look) != tried.end()) continue;
                tried.push_back(std::move(look));
            }
            const auto cost = in_domain ? program_.in_domain(u) : program_.in_unit(u);
            if (!cost || (best && *cost >= *best)) continue;
            best = cost;
            found = to_found(loads_, one_unit, *cost, program_);
            // The following units leave at least as many hosts over.
            if ((cost->parts & 0xffffff) == least && cost->avoidance == 0 && cost->broken == 0 &&
                cost->left >> 32 == 0)
                break;
        }
        budget_.spend(program_.done());
        if (!program_.stopped()) return found;
        budget_.cut();
        if (found) return found;
        if (loads_.idle_bound()) return among_few_idle();
        NestedDeal deal(loads_, program_.parts());
        for (const auto& [least, free, u] : units)
            keep_better(found, deal.place(u, 1, ranks_, spares_));
        return found;
    }

    // A description of a unit whose hosts are all alike; empty: they are not.
    std::vector<std::uint32_t> look_of(std::uint32_t u) const {
        const auto& parts = program_.parts();
        std::vector<std::uint32_t> look{loads_.unit(u).whole ? 1U : 0U};
        for (auto p = parts.first_of[u]; p < parts.first_of[u + 1]; ++p) {
            const auto& part = parts.all[p];
            if (!program_.plain(part)) return {};
            look.insert(look.end(), {part.size, part.candidates, part.free, part.joined ? 1U : 0U});
        }
        return look;
    }

    struct May {
        std::uint32_t least = 0; // fewest domains that it takes
        std::uint32_t free = 0, unit = 0;
    };

    // Units with all required hosts that are large enough: those that may need the fewest domains first, then
    // those with the fewest free hosts.
    std::vector<May> units_that_may() {
        std::vector<May> units;
        std::vector<std::uint32_t> sizes;
        for (std::uint32_t u = 0; u < loads_.units().size(); ++u) {
            const auto& load = loads_.unit(u);
            if (load.candidates < ranks_ + spares_ || load.required != loads_.required()) continue;
            sizes.clear();
            std::uint32_t alone = 0;
            for (auto p = program_.parts().first_of[u]; p < program_.parts().first_of[u + 1]; ++p) {
                const auto& part = program_.parts().all[p];
                if (part.joined)
                    sizes.push_back(part.candidates);
                else
                    alone += part.candidates;
            }
            units.push_back({index_.domains.empty() ? 0 : fewest(sizes, alone), load.free, u});
        }
        std::stable_sort(units.begin(), units.end(), [](const May& a, const May& b) {
            return std::pair(a.least, a.free) < std::pair(b.least, b.free);
        });
        return units;
    }

    // The fewest domains of these sizes, and hosts without one, that hold the gang.
    std::uint32_t fewest(std::vector<std::uint32_t>& sizes, std::uint32_t alone) const {
        std::sort(sizes.begin(), sizes.end(), std::greater<>());
        std::uint64_t held = 0;
        std::uint32_t domains = 0;
        for (const auto size : sizes) {
            if (held >= ranks_ + spares_ || size == 0) break;
            held += size;
            ++domains;
        }
        const auto rest = held >= ranks_ + spares_ ? 0 : ranks_ + spares_ - held;
        return domains + static_cast<std::uint32_t>(std::min<std::uint64_t>(rest, alone));
    }

    // What is used of a unit: as few domains as possible that hold this many hosts, of these preferably some
    // that are best for leaving hosts over (DynamicProgram::Option::sink).
    std::vector<NestedPart> domains_of(std::uint32_t unit, std::uint32_t hosts) const {
        std::vector<NestedPart> parts;
        for (const auto& part : unit_parts(loads_, unit))
            if (part.candidates > 0) parts.push_back(part);
        if (hosts == loads_.unit(unit).candidates) return parts;
        std::vector<NestedPart> best;
        const auto order = [](const std::vector<NestedPart>& in) {
            return std::pair(
                in.size(), std::all_of(in.begin(), in.end(), [](const auto& part) { return part.whole(); }));
        };
        for (std::uint32_t set = 1; set < 1U << parts.size(); ++set) {
            std::vector<NestedPart> in;
            std::uint32_t held = 0;
            for (std::size_t i = 0; i < parts.size(); ++i)
                if ((set >> i & 1) != 0) {
                    in.push_back(parts[i]);
                    held += parts[i].candidates;
                }
            if (held == hosts && (best.empty() || order(in) < order(best))) best = std::move(in);
        }
        return best;
    }

    // The chosen domains, with the surplus left in one of them. nullopt: the result differs from the computed
    // cost.
    std::optional<Found> distribute(const Found& chosen) const {
        struct Used {
            NestedPart part;
            std::uint32_t hosts = 0, unit = 0;
            bool spared = false; // the unit is whole so far
        };
        std::vector<Used> all;
        std::uint32_t over = 0;
        for (const auto& [unit, hosts] : chosen.taken) {
            over += hosts;
            for (const auto& part : domains_of(unit, hosts))
                all.push_back({part, part.candidates, unit,
                               loads_.unit(unit).whole && hosts == loads_.unit(unit).candidates});
        }
        over -= ranks_;
        const auto sink = std::min_element(all.begin(), all.end(), [](const Used& a, const Used& b) {
            const auto order = [](const Used& used) {
                return std::tuple(used.part.whole(), used.spared, -std::int64_t{used.hosts});
            };
            return order(a) < order(b);
        });
        if (sink == all.end() || sink->hosts <= over) return std::nullopt;
        sink->hosts -= over;
        NestedCost cost;
        std::vector<Share> shares;
        for (const auto& used : all) {
            shares.push_back({used.part.first, used.part.size, used.hosts, 0});
            cost = cost + part_cost(index_, used.part, used.hosts);
        }
        auto found = to_found(loads_, tier_, cost, std::move(shares));
        for (const auto& [unit, hosts] : found.taken) {
            const auto left = loads_.unit(unit).free - hosts;
            found.left += left;
            found.broken += loads_.unit(unit).whole && left > 0 ? 1 : 0;
        }
        const auto terms = [](const Found& f) {
            return std::tuple(f.pods, f.units, f.domains, behind_rails(f));
        };
        return terms(found) == terms(chosen) ? std::optional(std::move(found)) : std::nullopt;
    }

    // The best distribution over the units chosen by the ordinary search.
    std::optional<Found> refine(const Found& usual) {
        std::vector<std::uint32_t> units;
        for (const auto& [unit, hosts] : usual.taken)
            units.push_back(unit);
        const auto before = program_.done();
        program_.allow(before + budget_.left());
        auto cost = program_.among(units);
        budget_.spend(program_.done() - before);
        if (!cost) return std::nullopt;
        return to_found(loads_, tier_, *cost, program_);
    }

    // Whether bounds show that nothing in this tier is better than what refine() made of `usual`, which is
    // minimal in the terms that do not depend on domains.
    bool proven(const Found& found, const Found& usual) {
        if (found.pods != usual.pods || found.units != usual.units || found.avoidance != usual.avoidance ||
            found.broken != usual.broken || found.left != usual.left)
            return false;
        if (index_.domains.empty()) return true;
        std::vector<std::uint32_t> sizes;
        std::uint32_t alone = 0, common = 0;
        bool all_whole = true, any_alone = false;
        auto least = ~std::uint32_t{0};
        for (const auto& pod : index_.pods) {
            for (auto p = program_.parts().first_of[pod.first];
                 p < program_.parts().first_of[pod.first + pod.size]; ++p) {
                const auto& part = program_.parts().all[p];
                if (part.candidates == 0) continue;
                if (!part.joined) {
                    alone += part.candidates;
                    any_alone = true;
                    continue;
                }
                sizes.push_back(part.candidates);
                common = std::gcd(common, part.free);
                all_whole = all_whole && part.free == part.size;
            }
            if (tier_ != one_pod) continue;
            if (std::accumulate(sizes.begin(), sizes.end(), alone) >= ranks_)
                least = std::min(least, fewest(sizes, alone));
            sizes.clear();
            alone = 0;
        }
        if (tier_ != one_pod) least = fewest(sizes, alone);
        if (found.domains != least) return false;
        // If the free hosts of every domain are a multiple of `common`, a gang that is not leaves the rest.
        const auto left = any_alone || common == 0 ? 0 : (common - ranks_ % common) % common;
        const auto broken = left > 0 && all_whole ? 1U : 0U;
        return found.broken_domains == broken && found.left_in_domains == left;
    }

    std::optional<Found> exact() {
        std::optional<NestedCost> best;
        std::optional<Found> found;
        const auto see = [&](const std::optional<NestedCost>& cost) {
            if (!cost || (best && *cost >= *best)) return;
            best = cost;
            found = to_found(loads_, tier_, *cost, program_);
        };
        each_scope([&](std::uint32_t first, std::uint32_t size) {
            if (program_.stopped() || !may_hold(first, size)) return;
            see(tier_ == one_pod ? program_.in_pod(first) : program_.in_pods(first, size));
        });
        return found;
    }

    // A lower bound on the work of joining the pods' tables, for hosts that are placed one by one, none
    // required.
    std::uint64_t least_work() const {
        std::uint64_t work = 0;
        each_scope([&](std::uint32_t first, std::uint32_t size) {
            if (!may_hold(first, size)) return;
            std::uint64_t reached = 0;
            for (auto p = first; p < first + size; ++p) {
                const std::uint64_t candidates = loads_.pod_candidates(p);
                if (size > 1) work += std::min<std::uint64_t>(reached, ranks_) * candidates * 3;
                reached += candidates;
            }
        });
        return work;
    }

    // Visits the pods [first, first + size) that a gang of this tier may take.
    template <class See> void each_scope(See see) const {
        const auto pods = static_cast<std::uint32_t>(index_.pods.size());
        if (tier_ == one_pod)
            for (std::uint32_t p = 0; p < pods; ++p)
                see(p, 1U);
        else if (tier_ == one_island)
            for (const auto& island : index_.islands)
                see(island.first, island.size);
        else if (index_.islands.size() > 1)
            see(0U, pods);
    }

    bool may_hold(std::uint32_t first, std::uint32_t size) const {
        std::uint32_t candidates = 0, required = 0;
        for (auto p = first; p < first + size; ++p) {
            candidates += loads_.pod_candidates(p);
            required += loads_.pod_required(p);
        }
        return candidates >= ranks_ + spares_ && required == loads_.required();
    }

    std::optional<Found> among_few_idle() {
        const auto allowed = with_few_idle(loads_, 0, static_cast<std::uint32_t>(index_.pods.size()));
        if (!allowed) return std::nullopt;
        const Loads narrowed(index_, loads_.snapshot(), loads_.request(), &*allowed, loads_.keeps());
        if (narrowed.idle_bound()) return std::nullopt;
        auto found = search_nested(narrowed, tier_, budget_, [](bool) { return std::optional<Found>(); });
        if (!found) return found;
        for (auto& share : found->shares) {
            std::vector<std::uint32_t> hosts;
            narrowed.take(share, hosts);
            share.idle = static_cast<std::uint32_t>(
                std::count_if(hosts.begin(), hosts.end(), [&](auto h) { return loads_.idle(h); }));
        }
        return found;
    }

    // Without a search.
    std::optional<Found> greedy() {
        std::optional<Found> best;
        NestedDeal deal(loads_, program_.parts());
        each_scope([&](std::uint32_t first, std::uint32_t size) {
            if (!may_hold(first, size)) return;
            const auto& last = index_.pods[first + size - 1];
            const auto unit = index_.pods[first].first;
            keep_better(best, deal.place(unit, last.first + last.size - unit, ranks_, spares_));
        });
        return best;
    }

    void keep_better(std::optional<Found>& best, const std::optional<std::vector<Portion>>& portions) {
        if (!portions) return;
        auto found = to_found(loads_, tier_, program_.parts(), *portions);
        const auto order = [](const Found& f) {
            return std::tuple_cat(std::tuple(f.pods, f.units, f.domains), behind_rails(f));
        };
        if (!best || order(found) < order(*best)) best = std::move(found);
    }

    const Loads& loads_;
    const PlacementIndex& index_;
    const Tier tier_;
    Budget& budget_;
    const std::function<std::optional<Found>(bool)>& ordinary_;
    const std::uint32_t spares_, ranks_;
    NestedProgram program_;
};

} // namespace

std::optional<Found> search_nested(const Loads& loads, Tier tier, Budget& budget,
                                   const std::function<std::optional<Found>(bool)>& ordinary) {
    return Search(loads, tier, budget, ordinary).run();
}

} // namespace sched
