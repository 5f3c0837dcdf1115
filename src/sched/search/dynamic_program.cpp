// A row holds the least cost by slack spent, 0 … slack, in parts: without a sink among the units chosen so
// far, then with one; for domains also with a better one. Row r of a layer: r taken groups have been left out
// and not yet replaced. There is a layer before the first group and one after each. Rows that cannot be
// reached, or from which the end cannot be reached, are not filled. Slack and what is left out are counted in
// quanta (Loads::quantum).
#include "sched/search/dynamic_program.hpp"

#include "sched/search/narrow.hpp"
#include "sched/search/nested_parts.hpp"
#include "sched/search/packed_cost.hpp"
#include "sched/search/row_ops.hpp"
#include "sched/search/unit_options.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>

namespace sched {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;
constexpr std::size_t few_bytes = std::size_t{96} << 10; // tables this small are filled faster than narrowed

using packed::Fields;
using packed::infinite;
using packed::Narrow;
using packed::Wide;

constexpr std::size_t most_units_narrow = 16000; // so that no sum reaches 0x7fff

template <class V> class DynamicProgram {
public:
    DynamicProgram(const Loads& loads, const Fields& fields, const GroupPlan& plan, bool single,
                   std::size_t swaps, Budget& budget)
        : loads_(loads), fields_(fields), plan_(plan), budget_(budget), dense_(loads.required() != 0),
          swaps_(swaps), groups_(swaps > 0 ? plan.groups.size() : plan.taken),
          width_(std::size_t{plan.slack} + 1), stride_((width_ + block - 1) / block * block + block),
          options_(loads, fields, plan, single, groups_, budget) {
        find_halves();
        std::size_t deepest = 0;
        for (std::size_t g = 0; g < groups_; ++g)
            deepest = std::max<std::size_t>(deepest, plan.groups[g].size);
        steps_ = std::make_unique_for_overwrite<V[]>(deepest * halves_ * stride_);
        table_ = std::make_unique_for_overwrite<V[]>((groups_ + 1) * (swaps_ + 1) * halves_ * stride_);
        least_.assign((groups_ + 1) * (swaps_ + 1), unreached);
        rows_.resize(deepest + 1);
    }

    // Size of the tables for a number of exchanges.
    static std::size_t bytes(const GroupPlan& plan, std::size_t swaps) {
        return (plan.groups.size() + 1) * (swaps + 1) * (plan.domains ? 3 : 2) * (plan.slack + 2 * block) *
               sizeof(V);
    }

    // nullopt: as below.
    std::optional<Choice> solve() {
        std::fill_n(row(0, 0), halves_ * stride_, infinite<V>);
        row(0, 0)[0] = 0;
        least(0, 0) = 0;
        for (std::size_t g = 0; g < groups_; ++g)
            for (std::size_t r = 0; r <= swaps_; ++r) {
                if (!budget_.spend(2)) return std::nullopt;
                g < plan_.taken ? fill_taken(g, r) : fill_other(g, r);
            }
        return finish();
    }

private:
    static constexpr std::size_t block = RowOps<V>::block; // values processed at a time
    static constexpr auto unreached = ~std::uint32_t{0};

    using Option = packed::Option<V>;
    struct Position {
        std::size_t half;
        std::uint32_t spent;
    };

    std::size_t best_sink() const { return plan_.domains ? 2 : 1; }

    // If nothing is whole, every choice has the best sink, and with required hosts none: one part is enough.
    void find_halves() {
        bool whole = false;
        for (std::size_t g = 0; g < groups_; ++g)
            for (auto u = plan_.groups[g].first; u < plan_.groups[g].first + plan_.groups[g].size; ++u) {
                whole = whole || loads_.unit(u).whole;
                if (!plan_.domains) continue;
                for (const auto& part : unit_parts(loads_, u))
                    whole = whole || part.whole();
            }
        always_sink_ = !whole && !dense_;
        halves_ = whole && !dense_ ? best_sink() + 1 : 1;
    }
    std::size_t half_of(const Option& option) const { return std::min(option.sink, halves_ - 1); }

    V* row(std::size_t layer, std::size_t r) {
        return table_.get() + (layer * (swaps_ + 1) + r) * halves_ * stride_;
    }
    std::uint32_t& least(std::size_t layer, std::size_t r) { return least_[layer * (swaps_ + 1) + r]; }
    V value(const V* values, Position p) const { return values[p.half * stride_ + p.spent]; }

    // The slack spent by leaving out a taken group, or by taking another.
    std::uint32_t price(std::size_t g) const {
        const auto size = plan_.groups[g].quanta;
        return g < plan_.taken ? size - plan_.pivot : plan_.pivot - size;
    }

    // Charges the budget for passes over a row, eight bytes per one or two steps.
    void charge(std::uint64_t passes) { budget_.spend(8 + passes * stride_ * sizeof(V) / 8); }

    // The row after a unit; the first of its options leaves nothing out.
    void use_unit(std::span<const Option> options, const V* from, V* to) const {
        if (options.empty()) {
            std::fill_n(to, halves_ * stride_, infinite<V>);
            return;
        }
        for (std::size_t half = 0; half < halves_; ++half)
            rows_of_.add(to + half * stride_, from + half * stride_, width_, options.front().cost);
        const auto first = half_of(options.front());
        for (std::size_t half = 0; half < first; ++half) {
            rows_of_.lower(to + first * stride_, from + half * stride_, width_, options.front().cost);
            std::fill_n(to + half * stride_, width_, infinite<V>);
        }
        for (const auto& option : options.subspan(1)) {
            const auto count = width_ - option.drop;
            for (std::size_t half = 0; half < halves_; ++half) {
                const auto into = std::max(half, half_of(option));
                rows_of_.lower(to + into * stride_ + option.drop, from + half * stride_, count, option.cost);
            }
        }
    }

    // Rows before and after each unit of the group, in rows_[0], [1], … Returns how many there are. Unless
    // `each` is set, units with only one option share a row.
    std::size_t use_group(const Group& group, const V* from, bool each = false) {
        rows_[0] = from;
        std::size_t depth = 0;
        const auto use = [&](std::span<const Option> options) {
            charge(options.size() * halves_);
            auto* to = steps_.get() + depth * halves_ * stride_;
            use_unit(options, rows_[depth], to);
            rows_[++depth] = to;
        };
        Option one{0, V{0}, 0};
        bool any = false;
        for (auto u = group.first; u < group.first + group.size; ++u) {
            if (loads_.unit(u).quanta == 0 && loads_.unit(u).required == 0) continue;
            const auto options = options_.of(u);
            if (each || options.size() != 1) {
                use(options);
                continue;
            }
            one.cost = static_cast<V>(one.cost + options.front().cost);
            one.sink = std::max(one.sink, options.front().sink);
            any = true;
        }
        if (any) use(std::span(&one, 1));
        return depth;
    }

    // Merges a row, shifted by the slack spent, into row r of a layer.
    void merge(const V* from, std::uint32_t spent_before, std::uint32_t spend, std::size_t layer,
               std::size_t r) {
        if (std::uint64_t{spent_before} + spend > plan_.slack) return;
        charge(halves_);
        auto* to = row(layer, r);
        if (least(layer, r) == unreached) std::fill_n(to, halves_ * stride_, infinite<V>);
        least(layer, r) = std::min(least(layer, r), spent_before + spend);
        for (std::size_t half = 0; half < halves_; ++half)
            rows_of_.lower(to + half * stride_ + spend, from + half * stride_, width_ - spend, V{0});
    }

    // Whether r groups can still be replaced after group g.
    bool affordable(std::size_t g, std::size_t r, std::uint32_t spent) const {
        if (r == 0) return true;
        if (g < plan_.taken) return spent + plan_.cheapest[r] <= plan_.slack;
        return groups_ - 1 - g >= r && spent + r * price(g + 1) <= plan_.slack;
    }

    void fill_taken(std::size_t g, std::size_t r) {
        if (const auto spent = least(g, r); spent != unreached && affordable(g, r, spent)) {
            const auto depth = use_group(plan_.groups[g], row(g, r));
            merge(rows_[depth], spent, 0, g + 1, r);
        }
        if (r == 0 || plan_.groups[g].required || plan_.groups[g].quanta - plan_.pivot > plan_.slack) return;
        if (const auto spent = least(g, r - 1); spent != unreached && affordable(g, r, spent + price(g)))
            merge(row(g, r - 1), spent, price(g), g + 1, r);
    }

    void fill_other(std::size_t g, std::size_t r) {
        if (const auto spent = least(g, r); spent != unreached && affordable(g, r, spent))
            merge(row(g, r), spent, 0, g + 1, r);
        if (r == swaps_) return;
        const auto spent = least(g, r + 1);
        if (spent == unreached || !affordable(g, r, spent + price(g))) return;
        const auto depth = use_group(plan_.groups[g], row(g, r + 1));
        merge(rows_[depth], spent, price(g), g + 1, r);
    }

    // The total cost of the choice if the remaining slack is left over in one unit.
    std::optional<Cost> total(V value, std::size_t sink, std::uint32_t surplus) const {
        if (value >= infinite<V> || (dense_ && surplus > 0)) return std::nullopt;
        Cost cost;
        if constexpr (std::is_same_v<V, Narrow>)
            cost.units = static_cast<std::uint32_t>(value);
        else
            cost = fields_.unpack(value);
        cost.broken += surplus > 0 && sink == 0 ? 1 : 0;
        cost.left += surplus * loads_.quantum();
        if (plan_.domains) {
            cost.broken_domains = surplus > 0 && sink < 2 ? 1 : 0;
            cost.left_in_domains = surplus;
        }
        if (fields_.settled_last) cost.avoidance -= surplus;
        if (plan_.segments) {
            if (cost.avoidance > surplus + loads_.request().spares) return std::nullopt;
            cost.avoidance = 0;
        }
        return cost;
    }

    // Over all choices, whatever segments they hold. With more units, a position has choices that hold more.
    std::uint32_t fewest_units(const V* last) const {
        auto fewest = ~std::uint32_t{0};
        if constexpr (!std::is_same_v<V, Narrow>)
            for (std::size_t half = 0; half < halves_; ++half)
                for (std::uint32_t spent = 0; spent <= plan_.slack; ++spent)
                    if (const auto sum = value(last, {half, spent}); sum < infinite<V>)
                        fewest = std::min(fewest, fields_.unpack(sum).units);
        return fewest;
    }

    std::optional<Choice> finish() {
        const auto* last = row(groups_, 0);
        std::optional<Cost> best;
        Position at{0, 0};
        const auto units = plan_.segments ? fewest_units(last) : ~std::uint32_t{0};
        for (std::size_t half = 0; half < halves_; ++half)
            for (std::uint32_t spent = 0; spent <= plan_.slack; ++spent) {
                const auto sink = always_sink_ ? best_sink() : half;
                const auto cost = total(value(last, {half, spent}), sink, plan_.slack - spent);
                if (!cost || cost->units > units || (best && *cost >= *best)) continue;
                best = cost;
                at = {half, spent};
            }
        if (!best) return std::nullopt;
        Choice choice;
        choice.cost = *best;
        choice.cost.groups = static_cast<std::uint32_t>(plan_.taken);
        const bool sink = always_sink_ || at.half == 1;
        const auto surplus = plan_.slack - at.spent;
        trace(at, choice);
        if (fields_.settled_last)
            leave_out_others(surplus, choice);
        else if (!plan_.domains)
            leave_out(surplus, sink, choice);
        for (auto& used : choice.units)
            used.second *= loads_.quantum();
        std::sort(choice.units.begin(), choice.units.end());
        return choice;
    }

    // Traces back from a position of row 0 after the last group, adding the units used.
    void trace(Position at, Choice& choice) {
        std::size_t r = 0;
        for (auto g = groups_; g-- > 0;) {
            const bool taken = g < plan_.taken;
            const auto goal = value(row(g + 1, r), at);
            if (!taken && least(g, r) != unreached && value(row(g, r), at) == goal) continue;
            const auto before = taken ? r : r + 1;
            const auto spend = taken ? 0 : price(g);
            if (before <= swaps_ && at.spent >= spend && least(g, before) != unreached) {
                const auto depth = use_group(plan_.groups[g], row(g, before), true);
                if (value(rows_[depth], {at.half, at.spent - spend}) == goal) {
                    at = trace_units(plan_.groups[g], depth, {at.half, at.spent - spend}, choice);
                    r = before;
                    continue;
                }
            }
            --r; // a taken group that was left out
            at.spent -= price(g);
        }
    }

    // Traces back through the rows just filled by use_group; returns the position before the group.
    Position trace_units(const Group& group, std::size_t depth, Position at, Choice& choice) {
        for (auto u = group.first + group.size; u-- > group.first;) {
            const auto& load = loads_.unit(u);
            if (load.quanta == 0) continue;
            const auto goal = value(rows_[depth], at);
            --depth;
            const auto came_from = [&](const Option& option, Position before) {
                return static_cast<V>(value(rows_[depth], before) + option.cost) == goal;
            };
            for (const auto& option : options_.of(u)) {
                if (option.drop > at.spent) continue;
                // A sink leads into its part from lower ones; any other option stays in its part.
                const auto half = half_of(option);
                if (half > at.half) continue;
                Position before{half == at.half ? 0 : at.half, at.spent - option.drop};
                while (before.half < at.half && !came_from(option, before))
                    ++before.half;
                if (!came_from(option, before)) continue;
                if (option.drop < load.quanta) choice.units.emplace_back(u, load.quanta - option.drop);
                at = before;
                break;
            }
        }
        return at;
    }

    // The surplus is left in one unit: a sink if there is one, else the most used unit.
    void leave_out(std::uint32_t surplus, bool sink, Choice& choice) const {
        if (surplus == 0) return;
        std::pair<std::uint32_t, std::uint32_t>* best = nullptr;
        for (auto& used : choice.units) {
            const auto& load = loads_.unit(used.first);
            const bool is_sink = !load.whole || used.second * loads_.quantum() < load.free;
            if (is_sink == sink && (!best || used.second > best->second)) best = &used;
        }
        if (best) best->second -= surplus;
    }

    // The surplus is taken from hosts that the job did not have before, of which the units hold at least as
    // many.
    void leave_out_others(std::uint32_t surplus, Choice& choice) const {
        for (auto& used : choice.units) {
            const auto less = std::min({surplus, loads_.unit(used.first).impaired, used.second - 1});
            used.second -= less;
            surplus -= less;
        }
        leave_out(surplus, true, choice);
    }

    const Loads& loads_;
    const Fields& fields_;
    const GroupPlan& plan_;
    Budget& budget_;
    const bool dense_; // with required hosts every drop is its own option, and there are no sinks
    const std::size_t swaps_;
    const std::size_t groups_;
    const std::size_t width_;  // values of a half
    const std::size_t stride_; // from one half to the next
    std::size_t halves_ = 1;
    bool always_sink_ = false;
    std::unique_ptr<V[]> table_;       // [layer][row][half][slack spent]
    std::unique_ptr<V[]> steps_;       // rows between the units of one group
    std::vector<std::uint32_t> least_; // [layer][row]: least slack spent, or unreached
    std::vector<const V*> rows_;
    const RowOps<V> rows_of_;
    packed::UnitOptions<V> options_;
};

// Whether all groups hold the same: then exchanges gain nothing.
bool alike(const Loads& loads, const std::vector<Group>& groups, bool domains) {
    const auto key = [&](const Group& g) {
        std::vector<std::vector<std::uint32_t>> units;
        for (auto u = g.first; u < g.first + g.size; ++u)
            if (domains)
                units.push_back(look_of_parts(loads, u));
            else
                units.push_back({loads.unit(u).quanta * 2 + (loads.unit(u).whole ? 1U : 0U)});
        std::sort(units.begin(), units.end());
        return units;
    };
    const auto first = key(groups.front());
    return std::all_of(groups.begin() + 1, groups.end(),
                       [&](const Group& g) { return g.quanta == groups.front().quanta && key(g) == first; });
}

bool reached(const Cost& cost, const Goal& goal) {
    return cost.units <= goal.units.units && cost.domains == 0 && cost.avoidance == 0 && cost.broken == 0 &&
           cost.left <= goal.left;
}

template <class V>
std::optional<Choice> solve_in(const Loads& loads, const Fields& fields, const GroupPlan& plan, bool single,
                               const Goal& goal, Budget& budget) {
    const auto exchanging = [&](std::size_t groups, const GroupPlan& of) {
        auto swaps = std::min(groups, of.swaps());
        while (swaps > 0 && DynamicProgram<V>::bytes(of, swaps) > most_bytes)
            --swaps;
        if (swaps < std::min(groups, of.swaps())) budget.cut();
        return DynamicProgram<V>(loads, fields, of, single, swaps, budget).solve();
    };
    const auto all = (std::is_same_v<V, Narrow> || plan.segments || plan.domains) &&
                             alike(loads, plan.groups, plan.domains)
                         ? 0
                         : plan.swaps();
    if (single || all == 0 || loads.required() != 0) return exchanging(all, plan);
    if (!goal.hard && DynamicProgram<V>::bytes(plan, all) < few_bytes) {
        // Neither domains nor avoidance.
        if (all >= few_swaps && (fields.avoidance == fields.units || plan.segments)) {
            auto one = exchanging(1, plan);
            if (one ? reached(one->cost, goal) : !plan.segments) return one;
        }
        return exchanging(all, plan);
    }

    // One or two exchanges are nearly always enough, and cost a fraction of the full program.
    Narrowing narrowing(loads, plan, goal.units, budget);
    auto most = narrowing.to_fewest_units();
    std::optional<Choice> known;
    std::size_t tried = 0;
    for (const std::size_t few : {std::size_t{1}, few_swaps, most}) {
        if (known && (known->cost.units <= goal.units.units || tried == most)) break;
        known = exchanging(tried = std::min(few, most), narrowing.plan());
        if (known ? reached(known->cost, goal) : !plan.segments) return known;
    }
    if (!known) return known;
    if (known->cost.units > goal.units.units) return goal.hard ? known : exchanging(all, plan);
    for (bool better = true; tried < most;) {
        if (better) most = std::min(most, narrowing.below(known->cost));
        if (tried >= most) break;
        auto next = exchanging(tried = std::min(most, 2 * tried + 1), narrowing.plan());
        better = next && next->cost < known->cost;
        if (better) known = std::move(next);
    }
    return known;
}

} // namespace

std::optional<Choice> solve(const Loads& loads, const GroupPlan& plan, bool single, const Goal& goal,
                            Budget& budget) {
    if (loads.simple() && !plan.domains && !plan.segments && loads.units().size() <= most_units_narrow)
        return solve_in<Narrow>(loads, {}, plan, single, goal, budget);
    const Fields fields(loads, plan);
    if (fields.bits <= 30) return solve_in<std::int32_t>(loads, fields, plan, single, goal, budget);
    if (fields.bits <= 62) return solve_in<std::int64_t>(loads, fields, plan, single, goal, budget);
    return solve_in<Wide>(loads, fields, plan, single, goal, budget);
}

} // namespace sched
