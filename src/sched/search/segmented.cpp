#include "sched/search/segmented.hpp"

#include "sched/search/cover.hpp"
#include "sched/search/few_idle.hpp"
#include "sched/search/one_measure.hpp"
#include "sched/search/search_tier.hpp"
#include "sched/search/tighten.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

namespace sched {
namespace {

// pods 20 | units 20 | avoidance 40 | broken 24 | left 24 bits, compared at once.
__extension__ using Cost = unsigned __int128;
constexpr Cost infinite = ~Cost{0} >> 1;
constexpr Cost one_more_pod = Cost{1} << 108;

constexpr Cost pack(std::uint32_t units, std::uint64_t avoidance, std::uint32_t broken, std::uint32_t left) {
    return Cost{units} << 88 | Cost{avoidance} << 48 | Cost{broken} << 24 | Cost{left};
}

struct Pods {
    std::uint32_t first = 0, size = 0;
};

// What is used of a unit; its idle hosts are only distinguished if Loads::idle_bound().
struct Use {
    std::uint32_t unit = 0, segments = 0, spares = 0, idle = 0;
};

struct Gang {
    explicit Gang(const Loads& loads)
        : segment(std::max(loads.request().segment, 1U)), spares(segment > 1 ? loads.request().spares : 0),
          segments((loads.request().nodes - spares) / segment),
          idle(loads.idle_bound() ? loads.idle_limit() : 0) {}
    std::uint32_t segment, spares, segments, idle;
};

// The cost of using a number of hosts of a unit: the best ones are taken.
class UnitCosts {
public:
    UnitCosts(const Loads& loads, std::uint32_t unit)
        : load_(loads.unit(unit)), worst_(loads.optional_avoidances(unit)),
          total_(loads.total_avoidance(unit)) {
        if (!loads.idle_bound()) return;
        const auto& part = loads.index().units[unit];
        for (auto i = part.first; i < part.first + part.size; ++i) {
            const auto h = loads.index().order[i];
            if (!loads.candidate(h)) continue;
            auto& kind = kinds_[loads.idle(h) ? 1 : 0];
            kind.required += loads.is_required(h) ? 1 : 0;
            if (loads.is_required(h))
                kind.forced += loads.penalty(h);
            else
                kind.others.push_back(loads.penalty(h));
        }
        for (auto& kind : kinds_) {
            std::sort(kind.others.begin(), kind.others.end());
            kind.sums.push_back(kind.forced);
            for (const auto value : kind.others)
                kind.sums.push_back(kind.sums.back() + value);
        }
    }

    // With exactly `idle` idle ones among them; infinite: there are not that many, or required hosts are
    // left.
    Cost of(std::uint32_t hosts, std::uint32_t idle) const {
        std::uint64_t avoidance = 0;
        const std::uint32_t counts[] = {hosts - idle, idle};
        for (std::size_t k = 0; k < 2; ++k) {
            const auto& kind = kinds_[k];
            if (counts[k] < kind.required || counts[k] - kind.required > kind.others.size()) return infinite;
            avoidance += kind.sums[counts[k] - kind.required];
        }
        const auto left = load_.free - hosts;
        return pack(1, avoidance, load_.whole && left > 0 ? 1 : 0, left);
    }

    Cost of(std::uint32_t hosts) const {
        const auto dropped = std::min<std::size_t>(load_.candidates - hosts, worst_.size());
        const auto saved = std::accumulate(
            worst_.begin(), worst_.begin() + static_cast<std::ptrdiff_t>(dropped), std::uint64_t{0});
        const auto left = load_.free - hosts;
        return pack(1, total_ - saved, load_.whole && left > 0 ? 1 : 0, left);
    }

private:
    struct Kind {
        std::uint32_t required = 0;
        std::uint64_t forced = 0;          // their avoidance
        std::vector<std::uint32_t> others; // avoidances, least first
        std::vector<std::uint64_t> sums;   // sums over the forced ones and the best others, by count
    };
    const UnitLoad& load_;
    std::vector<std::uint32_t> worst_;
    std::uint64_t total_;
    Kind kinds_[2]; // mixed and idle hosts, if the latter are bound
};

Found to_found(const Loads& loads, Tier tier, const std::vector<Use>& uses) {
    Found found;
    found.tier = tier;
    const auto segment = Gang(loads).segment;
    auto last = ~std::uint32_t{0};
    for (const auto& use : uses) {
        const auto hosts = use.segments * segment + use.spares;
        const UnitCosts costs(loads, use.unit);
        const auto cost = loads.idle_bound() ? costs.of(hosts, use.idle) : costs.of(hosts);
        const auto pod = loads.index().units[use.unit].pod;
        found.pods += pod != last ? 1 : 0;
        last = pod;
        ++found.units;
        found.avoidance += static_cast<std::uint64_t>(cost >> 48) & 0xffffffffff;
        found.broken += static_cast<std::uint32_t>(cost >> 24) & 0xffffff;
        found.left += static_cast<std::uint32_t>(cost) & 0xffffff;
        found.taken.emplace_back(use.unit, hosts);
        if (loads.idle_bound()) found.idle.push_back(use.idle);
    }
    return found;
}

constexpr std::uint64_t little_work = 10'000; // of the program: faster than avoiding it
constexpr std::size_t most_exchanged = 4;     // units, once the pods are fixed

class SegmentProgram {
public:
    SegmentProgram(const Loads& loads, Pods pods)
        : loads_(loads), gang_(loads), pods_(pods), width_(gang_.spares + 1), depth_(gang_.idle + 1),
          cells_((gang_.segments + std::size_t{1}) * width_ * depth_) {}

    // Steps of the inner loop.
    std::uint64_t work() const {
        std::uint64_t options = 0;
        std::uint32_t units = 0;
        for (auto p = pods_.first; p < pods_.first + pods_.size; ++p) {
            const auto& pod = loads_.index().pods[p];
            units += pod.size;
            for (auto u = pod.first; u < pod.first + pod.size; ++u)
                options += loads_.unit(u).candidates == 0 ? 0 : most_segments(u) + 1;
        }
        return (options * width_ * depth_ + 2 * std::uint64_t{units}) * cells_ * 2;
    }

    // What is used of each unit, ascending; nothing: the gang does not fit.
    std::optional<std::vector<Use>> solve() {
        closed_.assign(cells_, infinite);
        closed_[0] = 0;
        for (auto p = pods_.first; p < pods_.first + pods_.size; ++p)
            if (loads_.pod_candidates(p) > 0) add_pod(p);
        const auto best =
            std::min_element(closed_.end() - static_cast<std::ptrdiff_t>(depth_), closed_.end());
        if (*best >= infinite) return std::nullopt;
        return trace(static_cast<std::size_t>(best - closed_.begin()));
    }

private:
    // How a cell after a unit was reached.
    struct Step {
        std::uint32_t segments = 0, idle = 0;
        std::uint16_t spares = 0;
        bool used = false, first = false; // first of its pod
    };
    struct Layer {
        std::uint32_t unit = 0;
        std::vector<Step> steps;
    };
    struct PodLayers {
        std::vector<Layer> units;
        std::vector<bool> open; // by cell: the pod is used
    };

    std::uint32_t most_segments(std::uint32_t unit) const {
        return std::min(loads_.unit(unit).candidates / gang_.segment, gang_.segments);
    }

    void add_pod(std::uint32_t p) {
        const auto& pod = loads_.index().pods[p];
        open_.assign(cells_, infinite); // a unit of the pod is used
        begun_ = false;
        auto& layers = pods_layers_.emplace_back();
        for (auto u = pod.first; u < pod.first + pod.size; ++u)
            if (loads_.unit(u).candidates > 0) layers.units.push_back(add_unit(u));
        layers.open.resize(cells_);
        const bool required = loads_.pod_required(p) > 0;
        for (std::size_t cell = 0; cell < cells_; ++cell) {
            layers.open[cell] = required || open_[cell] < closed_[cell];
            if (layers.open[cell]) closed_[cell] = open_[cell];
        }
    }

    Layer add_unit(std::uint32_t u) {
        Layer layer{u, std::vector<Step>(cells_)};
        const auto& load = loads_.unit(u);
        const UnitCosts costs(loads_, u);
        next_ = open_;
        if (load.required > 0) std::fill(next_.begin(), next_.end(), infinite);
        for (std::uint32_t a = 0; a <= most_segments(u); ++a)
            for (std::uint32_t b = 0; b <= gang_.spares; ++b) {
                const auto hosts = a * gang_.segment + b;
                if (hosts > load.candidates) break;
                if (hosts == 0 || hosts < load.required) continue;
                if (!loads_.idle_bound()) {
                    use(layer, a, b, 0, costs.of(hosts));
                    continue;
                }
                for (std::uint32_t idle = 0; idle <= std::min(hosts, gang_.idle); ++idle)
                    if (const auto cost = costs.of(hosts, idle); cost < infinite)
                        use(layer, a, b, idle, cost);
            }
        std::swap(open_, next_);
        begun_ = begun_ || load.required > 0;
        return layer;
    }

    std::size_t cell_of(std::size_t segments, std::size_t spares, std::size_t idle) const {
        return (segments * width_ + spares) * depth_ + idle;
    }

    void use(Layer& layer, std::uint32_t a, std::uint32_t b, std::uint32_t idle, Cost cost) {
        const auto back = cell_of(a, b, idle);
        for (std::size_t i = a; i <= gang_.segments; ++i)
            for (std::size_t j = b; j < width_; ++j)
                for (auto cell = cell_of(i, j, idle); cell < cell_of(i, j, depth_); ++cell) {
                    const auto opened = begun_ ? infinite : closed_[cell - back] + one_more_pod;
                    const bool first = opened < open_[cell - back];
                    const auto sum = (first ? opened : open_[cell - back]) + cost;
                    if (sum >= next_[cell] || sum >= infinite) continue;
                    next_[cell] = sum;
                    layer.steps[cell] = {a, idle, static_cast<std::uint16_t>(b), true, first};
                }
    }

    std::vector<Use> trace(std::size_t cell) const {
        std::vector<Use> uses;
        for (auto pod = pods_layers_.rbegin(); pod != pods_layers_.rend(); ++pod) {
            if (!pod->open[cell]) continue;
            for (auto layer = pod->units.rbegin(); layer != pod->units.rend(); ++layer) {
                const auto& step = layer->steps[cell];
                if (!step.used) continue;
                uses.push_back({layer->unit, step.segments, step.spares, step.idle});
                cell -= cell_of(step.segments, step.spares, step.idle);
                if (step.first) break;
            }
        }
        std::reverse(uses.begin(), uses.end());
        return uses;
    }

    const Loads& loads_;
    const Gang gang_;
    const Pods pods_;
    const std::size_t width_; // spares 0 … K
    const std::size_t depth_; // idle hosts 0 … limit; 1 if they are not bound
    const std::size_t cells_; // [segments placed][spares placed][idle hosts taken]
    std::vector<Cost> closed_, open_, next_;
    bool begun_ = false; // an earlier unit of this pod must be used
    std::vector<PodLayers> pods_layers_;
};

// Distributes the gang over units that hold it, the required hosts first.
class Dealer {
public:
    Dealer(const Loads& loads, const std::vector<std::uint32_t>& units) : loads_(loads), gang_(loads) {
        for (const auto u : units)
            uses_.push_back({u});
    }

    std::vector<Use> deal() {
        auto segments = gang_.segments, spares = gang_.spares;
        for (auto& use : uses_)
            take_segments(use, load(use).required / gang_.segment, segments);
        // A segment for the remaining required hosts: where there are most.
        sort([&](const Use& use) { return gang_.segment - load(use).required % gang_.segment; });
        for (auto& use : uses_)
            if (load(use).required > hosts(use) && room(use) > 0) take_segments(use, 1, segments);
        // The rest: where no other job finds a whole unit, and on healthy hosts.
        sort([&](const Use& use) { return std::pair(load(use).impaired > 0, load(use).whole); });
        for (auto& use : uses_)
            take_segments(use, room(use), segments);
        for (auto& use : uses_)
            take_spares(use, load(use).required - std::min(load(use).required, hosts(use)), spares);
        // Units that few hosts fill up come first: this breaks the fewest.
        sort([&](const Use& use) { return load(use).candidates - hosts(use); });
        for (auto& use : uses_)
            take_spares(use, load(use).candidates - hosts(use), spares);
        std::erase_if(uses_, [&](const Use& use) { return hosts(use) == 0; });
        sort([](const Use& use) { return use.unit; });
        return std::move(uses_);
    }

private:
    const UnitLoad& load(const Use& use) const { return loads_.unit(use.unit); }
    std::uint32_t hosts(const Use& use) const { return use.segments * gang_.segment + use.spares; }
    std::uint32_t room(const Use& use) const { // segments
        return load(use).candidates / gang_.segment - use.segments;
    }
    static void take_segments(Use& use, std::uint32_t count, std::uint32_t& from) {
        count = std::min(count, from);
        use.segments += count;
        from -= count;
    }
    static void take_spares(Use& use, std::uint32_t count, std::uint32_t& from) {
        count = std::min(count, from);
        use.spares += count;
        from -= count;
    }
    template <class Key> void sort(const Key& key) {
        std::stable_sort(uses_.begin(), uses_.end(),
                         [&](const Use& a, const Use& b) { return key(a) < key(b); });
    }

    const Loads& loads_;
    const Gang gang_;
    std::vector<Use> uses_;
};

bool holds_required(const Loads& loads, Pods pods) {
    std::uint32_t required = 0;
    for (auto p = pods.first; p < pods.first + pods.size; ++p)
        required += loads.pod_required(p);
    return required == loads.required();
}

// The best choice with so few idle hosts that all of them may be taken.
std::optional<Found> among_few_idle(const Loads& loads, Tier tier, Pods pods, Budget& budget) {
    budget.cut();
    const auto allowed = with_few_idle(loads, pods.first, pods.size);
    if (!allowed) return std::nullopt;
    budget.spend(8 * loads.index().order.size());
    const Loads narrowed(loads.index(), loads.snapshot(), loads.request(), &*allowed, loads.keeps());
    auto found = search_tier(narrowed, tier, budget);
    if (!found) return found;
    found->idle.clear();
    for (const auto& [unit, count] : found->taken) {
        std::vector<std::uint32_t> hosts;
        narrowed.take(unit, count, hosts);
        found->idle.push_back(static_cast<std::uint32_t>(
            std::count_if(hosts.begin(), hosts.end(), [&](auto h) { return loads.idle(h); })));
    }
    return found;
}

auto order_of(const Found& found) {
    return std::tuple(found.pods, found.units, found.avoidance, found.broken, found.left);
}

// Whether nothing can be better in the terms after pods and units.
bool perfect(const Found& found) {
    return found.avoidance == 0 && found.broken == 0 && found.left == 0;
}

// As few pods and units as cover() finds, and units in these pods that leave little over.
std::optional<Found> in_few_units(const Loads& loads, Tier tier, Pods pods, Budget& budget) {
    const auto held = cover(loads, pods.first, pods.size, budget);
    if (!held) return std::nullopt;
    const auto deal = [&](std::size_t swaps) {
        return to_found(loads, tier,
                        Dealer(loads, tightest(loads, held->pods, held->units, swaps, budget)).deal());
    };
    auto found = deal(most_exchanged);
    if (perfect(found)) return found;
    auto largest = deal(0); // what it leaves over may be the worst hosts
    return order_of(largest) < order_of(found) ? largest : found;
}

std::optional<Found> in_pods(const Loads& loads, Tier tier, Pods pods, Budget& budget) {
    std::uint32_t candidates = 0;
    for (auto p = pods.first; p < pods.first + pods.size; ++p)
        candidates += loads.pod_candidates(p);
    if (candidates < loads.request().nodes || !holds_required(loads, pods)) return std::nullopt;
    SegmentProgram program(loads, pods);
    const auto work = program.work();
    const auto solve = [&]() -> std::optional<Found> {
        budget.spend(work);
        const auto uses = program.solve();
        return uses ? std::optional(to_found(loads, tier, *uses)) : std::nullopt;
    };
    const bool affordable = work <= budget.left() / 2;
    if (affordable && (loads.idle_bound() || work < little_work)) return solve();
    if (loads.idle_bound()) return among_few_idle(loads, tier, pods, budget);
    Budget attempt(affordable ? budget.left() / 2 : budget.left()); // its cuts do not count if solve() runs
    auto found = in_few_units(loads, tier, pods, attempt);
    budget.spend(attempt.spent());
    if (!found || (attempt.cuts() == 0 && perfect(*found))) return found;
    if (affordable) return solve();
    budget.cut();
    return found;
}

// The fewest units of a pod that hold the gang; nothing: not even all do.
std::optional<std::uint32_t> fewest_units(const Loads& loads, std::uint32_t pod) {
    const Gang gang(loads);
    std::uint32_t segments = 0, hosts = 0, units = 0;
    for (const auto u : covering_order(loads, std::span(&pod, 1))) {
        if (segments >= gang.segments && hosts >= loads.request().nodes && loads.unit(u).required == 0) break;
        segments += loads.unit(u).candidates / gang.segment;
        hosts += loads.unit(u).candidates;
        ++units;
    }
    if (segments < gang.segments || hosts < loads.request().nodes) return std::nullopt;
    return units;
}

// In a pod whose hosts are all alike, a choice of the fewest units only depends on the units.
std::optional<Found> in_alike_units(const Loads& loads, std::uint32_t p, std::uint32_t units,
                                    Budget& budget) {
    const auto& pod = loads.index().pods[p];
    bool whole = false;
    for (auto u = pod.first; u < pod.first + pod.size; ++u) {
        const auto& load = loads.unit(u);
        if (load.impaired != 0 || load.required != 0 || load.free != load.candidates) return std::nullopt;
        whole = whole || load.whole;
    }
    auto found = to_found(loads, one_pod, Dealer(loads, tightest(loads, {p}, units, units, budget)).deal());
    // Wholly free units are not exchanged in, and how many are broken is decided greedily.
    return !whole || perfect(found) ? std::optional(std::move(found)) : std::nullopt;
}

void keep_better(std::optional<Found>& best, std::optional<Found> found) {
    if (found && (!best || order_of(*found) < order_of(*best))) best = std::move(found);
}

std::optional<Found> in_one_pod(const Loads& loads, Budget& budget) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> fitting; // pod, fewest units
    auto fewest = ~std::uint32_t{0};
    for (std::uint32_t p = 0; p < loads.index().pods.size(); ++p) {
        if (loads.pod_candidates(p) < loads.request().nodes || !holds_required(loads, {p, 1})) continue;
        if (const auto units = fewest_units(loads, p)) {
            fitting.emplace_back(p, *units);
            fewest = std::min(fewest, *units);
        }
    }
    std::optional<Found> best;
    for (const auto& [p, units] : fitting) {
        if (units > fewest && !loads.idle_bound()) continue;
        if (best && budget.left() == 0) {
            budget.cut();
            break;
        }
        auto found = loads.idle_bound() ? std::nullopt : in_alike_units(loads, p, units, budget);
        keep_better(best, found ? std::move(found) : in_pods(loads, one_pod, {p, 1}, budget));
        if (best && best->units == fewest && perfect(*best)) break;
    }
    return best;
}

// One unit that holds the gang; for Loads::idle_bound().
std::optional<Found> in_one_unit(const Loads& loads) {
    const Gang gang(loads);
    const auto nodes = loads.request().nodes;
    auto least = infinite;
    Use best;
    for (std::uint32_t u = 0; u < loads.units().size(); ++u) {
        const auto& load = loads.unit(u);
        if (load.candidates < nodes || load.required != loads.required()) continue;
        const UnitCosts costs(loads, u);
        for (std::uint32_t idle = 0; idle <= std::min(nodes, gang.idle); ++idle) {
            const auto cost = costs.of(nodes, idle);
            if (cost >= least) continue;
            least = cost;
            best = {u, gang.segments, gang.spares, idle};
        }
    }
    if (least == infinite) return std::nullopt;
    return to_found(loads, one_unit, {best});
}

} // namespace

std::optional<Found> search_segmented(const Loads& loads, Tier tier, Budget& budget,
                                      const std::function<std::optional<Found>(Budget&)>& ordinary) {
    const auto& index = loads.index();
    if (tier == one_unit) return in_one_unit(loads);
    if (tier == one_pod) return in_one_pod(loads, budget);
    if (!loads.idle_bound()) {
        const auto deal = [&](const auto& units) {
            return to_found(loads, tier, Dealer(loads, units).deal());
        };
        if (auto found = search_by_one_measure(loads, tier, budget, ordinary, deal)) return found;
    }
    if (tier == everywhere)
        return in_pods(loads, tier, {0, static_cast<std::uint32_t>(index.pods.size())}, budget);
    std::optional<Found> best;
    for (const auto& island : index.islands)
        keep_better(best, in_pods(loads, tier, {island.first, island.size}, budget));
    return best;
}

} // namespace sched
