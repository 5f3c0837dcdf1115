#include "sched/choose.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>

namespace sched {
namespace {

// What the dynamic programme adds up. Narrow: the number of units, enough for simple loads, and compared
// eight at a time. Wide: units, avoidance, broken and left in 32 bits each, compared at once.
using Narrow = std::int16_t;
__extension__ using Wide = unsigned __int128;

template <class V> constexpr V infinite = V{1} << 126;
template <> constexpr Narrow infinite<Narrow> = 0x3fff;
constexpr std::size_t most_units_narrow = 16000; // sums of costs stay below infinite

constexpr std::size_t most_bytes = std::size_t{64} << 20;

Wide pack(std::uint32_t units, std::uint64_t avoidance, std::uint32_t broken, std::uint32_t left) {
    return Wide{units} << 96 | Wide{avoidance} << 64 | Wide{broken} << 32 | Wide{left};
}

// One way to use a unit: leave out `drop` of its candidates. A sink can leave out more at no cost but the
// hosts left: it is not whole, or broken already.
template <class V> struct Option {
    std::uint32_t drop;
    V cost;
    bool sink;
};

struct Plan {
    std::vector<Group> groups; // those that can matter: taken ones first, each part largest first
    std::size_t taken = 0;     // groups in every choice
    std::size_t swaps = 0;     // most groups that can be exchanged
    std::uint32_t slack = 0;
    std::uint32_t pivot = 0; // candidates of the smallest group taken that is not required; 0: none
};

// The fewest groups that hold the gang: those with required hosts and the largest others.
std::optional<Plan> plan_groups(const Loads& loads, std::vector<Group> groups, std::uint32_t nodes) {
    std::erase_if(groups, [](const Group& g) { return g.candidates == 0; });
    std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
        if (a.required != b.required) return a.required;
        if (a.candidates != b.candidates) return a.candidates > b.candidates;
        return a.first < b.first;
    });
    Plan plan;
    std::uint64_t held = 0;
    std::size_t forced = 0;
    while (forced < groups.size() && groups[forced].required)
        held += groups[forced++].candidates;
    plan.taken = forced;
    while (held < nodes && plan.taken < groups.size())
        held += groups[plan.taken++].candidates;
    if (held < nodes || loads.required() > nodes) return std::nullopt;
    plan.slack = static_cast<std::uint32_t>(held - nodes);
    if (plan.taken > forced) plan.pivot = groups[plan.taken - 1].candidates;

    // Costs of an exchange: what a group holds above the pivot goes, what the other lacks below it, too.
    std::vector<std::uint32_t> out, in;
    for (std::size_t i = forced; i < groups.size() && plan.pivot != 0; ++i) {
        const auto size = groups[i].candidates;
        if (i < plan.taken && size - plan.pivot <= plan.slack) out.push_back(size - plan.pivot);
        if (i >= plan.taken && plan.pivot - size <= plan.slack) in.push_back(plan.pivot - size);
    }
    std::reverse(out.begin(), out.end()); // both cheapest first
    std::uint64_t spent = 0;
    while (plan.swaps < std::min(out.size(), in.size())) {
        spent += out[plan.swaps] + in[plan.swaps];
        if (spent > plan.slack) break;
        ++plan.swaps;
    }
    groups.resize(plan.taken + (plan.swaps == 0 ? 0 : in.size()));
    plan.groups = std::move(groups);
    return plan;
}

// Do all groups hold the same? Then exchanging them gains nothing.
bool alike(const Loads& loads, const std::vector<Group>& groups) {
    const auto key = [&](const Group& g) {
        std::vector<std::uint64_t> units;
        for (auto u = g.first; u < g.first + g.size; ++u)
            units.push_back(loads.unit(u).candidates * 2 + (loads.unit(u).whole ? 1U : 0U));
        std::sort(units.begin(), units.end());
        return units;
    };
    const auto first = key(groups.front());
    return std::all_of(groups.begin() + 1, groups.end(), [&](const Group& g) {
        return g.candidates == groups.front().candidates && key(g) == first;
    });
}

template <class V> class Programme {
public:
    Programme(const Loads& loads, const Plan& plan, bool single)
        : loads_(loads), plan_(plan), single_(single), dense_(loads.required() != 0),
          width_(std::size_t{plan.slack} + 1), swaps_(plan.swaps) {
        const auto layer_bytes = plan.groups.size() * 2 * width_ * sizeof(V);
        if (swaps_ > 0) swaps_ = std::min(swaps_, most_bytes / std::max<std::size_t>(layer_bytes, 1));
        if (std::is_same_v<V, Narrow> && swaps_ > 0 && alike(loads, plan.groups)) swaps_ = 0;
        groups_ = swaps_ > 0 ? plan.groups.size() : plan.taken;
        layer_ = (swaps_ + 1) * 2 * width_;
        const std::size_t deepest = deepest_group();
        steps_.resize((deepest + 1) * 2 * width_);
        table_.assign((groups_ + 1) * layer_, infinite<V>);
    }

    Choice solve() {
        table_[0] = 0;
        for (std::size_t g = 0; g < groups_; ++g)
            advance(g);
        auto choice = finish();
        std::sort(choice.units.begin(), choice.units.end());
        return choice;
    }

private:
    std::size_t deepest_group() const {
        std::uint32_t deepest = 0;
        for (std::size_t g = 0; g < groups_; ++g)
            deepest = std::max(deepest, plan_.groups[g].size);
        return deepest;
    }

    // A row: costs by slack spent, first without a sink among the units chosen, then with one.
    V* row(std::size_t layer, std::size_t exchanged) {
        return table_.data() + layer * layer_ + exchanged * 2 * width_;
    }
    V* step(std::size_t unit) { return steps_.data() + unit * 2 * width_; }

    std::uint32_t size_of(std::size_t g) const { return plan_.groups[g].candidates; }
    // The slack that leaving out a taken group, or taking another, spends.
    std::uint32_t price(std::size_t g) const {
        return g < plan_.taken ? size_of(g) - plan_.pivot : plan_.pivot - size_of(g);
    }
    bool optional(std::size_t g) const {
        return !plan_.groups[g].required && (g >= plan_.taken || price(g) <= plan_.slack);
    }

    void find_options(std::uint32_t u) {
        options_.clear();
        const auto& load = loads_.unit(u);
        const auto drop_all = Option<V>{load.candidates, V{0}, false};
        if constexpr (std::is_same_v<V, Narrow>) {
            options_.push_back({0, V{1}, !load.whole});
            if (!single_) options_.push_back(drop_all);
        } else {
            const auto worst = loads_.optional_avoidances(u);
            const auto extra = load.free - load.candidates;
            const auto kept = std::max(load.required, 1U);
            auto most = load.candidates - kept;
            if (!dense_) most = std::min(most, static_cast<std::uint32_t>(worst.size()));
            auto avoided = loads_.total_avoidance(u);
            for (std::uint32_t drop = 0; drop <= std::min(most, plan_.slack); ++drop) {
                if (drop > 0 && drop <= worst.size()) avoided -= worst[drop - 1];
                const bool touched = drop + extra > 0;
                options_.push_back({drop, pack(1, avoided, load.whole && touched ? 1 : 0, drop + extra),
                                    !dense_ && (!load.whole || touched)});
            }
            if (!single_ && load.required == 0) options_.push_back(drop_all);
        }
    }

    void lower(V* __restrict to, const V* __restrict from, std::size_t count, V cost) const {
        for (std::size_t i = 0; i < count; ++i) {
            const auto value = static_cast<V>(from[i] + cost);
            to[i] = value < to[i] ? value : to[i];
        }
    }

    void apply(const V* from, V* to) const {
        std::fill(to, to + 2 * width_, infinite<V>);
        for (const auto& option : options_) {
            if (option.drop >= width_) continue;
            const auto count = width_ - option.drop;
            lower(to + (option.sink ? width_ : 0) + option.drop, from, count, option.cost);
            lower(to + width_ + option.drop, from + width_, count, option.cost);
        }
    }

    // The rows after each unit of the group, into step(1) …, from `from`.
    const V* use_group(const Group& group, const V* from) {
        std::copy(from, from + 2 * width_, step(0));
        std::size_t depth = 0;
        for (auto u = group.first; u < group.first + group.size; ++u) {
            if (loads_.unit(u).candidates == 0) continue;
            find_options(u);
            apply(step(depth), step(depth + 1));
            ++depth;
        }
        return step(depth);
    }

    void merge(const V* from, V* to, std::uint32_t shift) const {
        if (shift >= width_) return;
        lower(to + shift, from, width_ - shift, V{0});
        lower(to + width_ + shift, from + width_, width_ - shift, V{0});
    }

    bool reached(const V* values) const {
        return std::any_of(values, values + 2 * width_, [](V v) { return v < infinite<V>; });
    }

    // Row r of a layer: r taken groups were left out and not yet made up for.
    void advance(std::size_t g) {
        const bool taken = g < plan_.taken;
        for (std::size_t r = 0; r <= swaps_; ++r) {
            const auto* from = row(g, r);
            if (!reached(from)) continue;
            if (!taken) merge(from, row(g + 1, r), 0);
            if (!taken && r == 0) continue;
            if (taken && optional(g) && r < swaps_) merge(from, row(g + 1, r + 1), price(g));
            merge(use_group(plan_.groups[g], from), row(g + 1, taken ? r : r - 1), taken ? 0 : price(g));
        }
    }

    Wide total(V cost, bool sink, std::uint32_t surplus) const {
        if (cost >= infinite<V> || (dense_ && surplus > 0)) return infinite<Wide>;
        Wide sum;
        if constexpr (std::is_same_v<V, Narrow>)
            sum = pack(static_cast<std::uint32_t>(cost), 0, 0, 0);
        else
            sum = cost;
        return sum + pack(0, 0, surplus > 0 && !sink ? 1 : 0, surplus);
    }

    Choice finish() {
        const auto* last = row(groups_, 0);
        Wide best = infinite<Wide>;
        std::size_t at = 0;
        for (std::size_t i = 0; i < 2 * width_; ++i) {
            const bool sink = i >= width_;
            const auto spent = static_cast<std::uint32_t>(sink ? i - width_ : i);
            const auto sum = total(last[i], sink, plan_.slack - spent);
            if (sum < best) {
                best = sum;
                at = i;
            }
        }
        Choice choice;
        choice.cost.groups = static_cast<std::uint32_t>(plan_.taken);
        choice.cost.units = static_cast<std::uint32_t>(best >> 96);
        choice.cost.avoidance = static_cast<std::uint32_t>(best >> 64);
        choice.cost.broken = static_cast<std::uint32_t>(best >> 32);
        choice.cost.left = static_cast<std::uint32_t>(best);
        const bool sink = at >= width_;
        auto surplus = plan_.slack - static_cast<std::uint32_t>(sink ? at - width_ : at);
        trace(at, choice);
        leave_out(surplus, sink, choice);
        return choice;
    }

    // Goes back from position `at` of row 0 behind the last group, adding the units that were used.
    void trace(std::size_t at, Choice& choice) {
        std::size_t r = 0;
        for (auto g = groups_; g-- > 0;) {
            const bool taken = g < plan_.taken;
            const auto value = row(g + 1, r)[at];
            const auto from_row = taken ? r : r + 1;
            const auto shift = taken ? 0 : price(g);
            const auto spent = at >= width_ ? at - width_ : at;
            if (from_row <= swaps_ && spent >= shift && reached(row(g, from_row))) {
                const auto* to = use_group(plan_.groups[g], row(g, from_row));
                if (to[at - shift] == value) {
                    at = trace_units(plan_.groups[g], at - shift, choice);
                    r = from_row;
                    continue;
                }
            }
            if (taken) { // left out
                --r;
                at -= price(g);
            }
        }
    }

    // Through the steps that use_group has just filled; returns the position before the group.
    std::size_t trace_units(const Group& group, std::size_t at, Choice& choice) {
        std::size_t depth = 0;
        for (auto u = group.first; u < group.first + group.size; ++u)
            if (loads_.unit(u).candidates > 0) ++depth;
        for (auto u = group.first + group.size; u-- > group.first;) {
            const auto& load = loads_.unit(u);
            if (load.candidates == 0) continue;
            find_options(u);
            const auto value = step(depth)[at];
            --depth;
            for (const auto& option : options_) {
                const auto spent = at >= width_ ? at - width_ : at;
                if (option.drop > spent) continue;
                const auto before = at - option.drop;
                const auto matches = [&](std::size_t position) {
                    return static_cast<V>(step(depth)[position] + option.cost) == value;
                };
                if (at >= width_ && option.sink && matches(before - width_))
                    at = before - width_;
                else if ((at >= width_ || !option.sink) && matches(before))
                    at = before;
                else
                    continue;
                if (option.drop < load.candidates)
                    choice.units.emplace_back(u, load.candidates - option.drop);
                break;
            }
        }
        return at;
    }

    // The surplus stays in one unit: a sink if there is one, else the one with most hosts.
    void leave_out(std::uint32_t surplus, bool sink, Choice& choice) const {
        if (surplus == 0) return;
        std::pair<std::uint32_t, std::uint32_t>* best = nullptr;
        for (auto& used : choice.units) {
            const auto& load = loads_.unit(used.first);
            const bool is_sink = !load.whole || used.second < load.free;
            if (is_sink == sink && (!best || used.second > best->second)) best = &used;
        }
        if (best) best->second -= surplus;
    }

    const Loads& loads_;
    const Plan& plan_;
    const bool single_;
    const bool dense_; // with required hosts every drop is an option of its own, and nothing is a sink
    const std::size_t width_;
    std::size_t swaps_;
    std::size_t groups_ = 0;
    std::size_t layer_ = 0;
    std::vector<V> table_; // [group][exchanged][sink][slack spent]
    std::vector<V> steps_; // rows between the units of one group
    std::vector<Option<V>> options_;
};

// All units are given: drops the worst hosts that are not required, from as few whole units as can be.
Choice drop_worst(const Loads& loads, const std::vector<Group>& groups, std::uint32_t slack) {
    struct Droppable {
        std::uint32_t unit = 0;
        std::vector<std::uint32_t> values; // avoidances, largest first
        std::uint32_t drop = 0;
        bool spared = false; // whole and untouched so far
    };
    std::vector<Droppable> parts;
    std::vector<std::uint32_t> all;
    for (const auto& group : groups) {
        const auto& load = loads.unit(group.first);
        Droppable part{group.first, loads.optional_avoidances(group.first), 0, false};
        part.values.resize(load.candidates - load.required, 0);
        all.insert(all.end(), part.values.begin(), part.values.end());
        parts.push_back(std::move(part));
    }
    std::sort(all.begin(), all.end(), std::greater<>());
    const auto least = slack == 0 ? 0 : all[slack - 1]; // the least value dropped
    auto rest = slack;
    std::vector<std::pair<std::size_t, std::uint32_t>> equal; // part, hosts of exactly that value
    for (std::size_t i = 0; i < parts.size() && slack > 0; ++i) {
        auto& part = parts[i];
        const auto& load = loads.unit(part.unit);
        const auto above =
            std::find_if(part.values.begin(), part.values.end(), [&](auto v) { return v <= least; });
        part.drop = static_cast<std::uint32_t>(above - part.values.begin());
        rest -= part.drop;
        part.spared = load.whole && part.drop == 0 && load.free == load.candidates;
        equal.emplace_back(i, static_cast<std::uint32_t>(std::count(above, part.values.end(), least)));
    }
    std::stable_sort(equal.begin(), equal.end(), [&](const auto& a, const auto& b) {
        if (parts[a.first].spared != parts[b.first].spared) return !parts[a.first].spared;
        return a.second > b.second;
    });
    for (const auto& [i, count] : equal) {
        const auto more = std::min(count, rest);
        parts[i].drop += more;
        rest -= more;
    }
    Choice choice;
    choice.cost.groups = choice.cost.units = static_cast<std::uint32_t>(parts.size());
    for (const auto& part : parts) {
        const auto& load = loads.unit(part.unit);
        choice.cost.avoidance += loads.total_avoidance(part.unit);
        for (std::uint32_t i = 0; i < part.drop; ++i)
            choice.cost.avoidance -= part.values[i];
        const auto left = part.drop + load.free - load.candidates;
        choice.cost.left += left;
        choice.cost.broken += load.whole && left > 0 ? 1 : 0;
        choice.units.emplace_back(part.unit, load.candidates - part.drop);
    }
    std::sort(choice.units.begin(), choice.units.end());
    return choice;
}

// The units of these groups, each as a group.
std::vector<Group> split(const Loads& loads, const std::vector<Group>& groups) {
    std::vector<Group> units;
    for (const auto& group : groups)
        for (auto u = group.first; u < group.first + group.size; ++u)
            units.push_back({u, 1, loads.unit(u).candidates, loads.unit(u).required > 0});
    return units;
}

} // namespace

std::optional<Choice> choose(const Loads& loads, std::vector<Group> groups, std::uint32_t nodes,
                             bool single) {
    auto plan = plan_groups(loads, std::move(groups), nodes);
    if (!plan) return std::nullopt;
    if (plan->pivot == 0 && !single) { // the groups are given: only their units are to be chosen
        const auto taken = static_cast<std::uint32_t>(plan->taken);
        auto choice = choose(loads, split(loads, plan->groups), nodes, true);
        if (choice) choice->cost.groups = taken;
        return choice;
    }
    if (plan->pivot == 0) return drop_worst(loads, plan->groups, plan->slack);
    if (loads.simple() && loads.units().size() <= most_units_narrow)
        return Programme<Narrow>(loads, *plan, single).solve();
    return Programme<Wide>(loads, *plan, single).solve();
}

} // namespace sched
