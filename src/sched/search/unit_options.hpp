// The ways in which the dynamic program can use a unit. Internal to src/sched.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/nested_parts.hpp"
#include "sched/search/packed_cost.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace sched::packed {

// One way to use a unit: leave out `drop` of its quanta. A sink, above 0, can leave out more at no cost
// except the hosts left: it is not whole, or is already broken. With domains, 1 breaks no unit, 2 no domain
// either.
template <class V> struct Option {
    std::uint32_t drop;
    V cost;
    std::size_t sink;
};

// For the units in the first `groups` groups of a plan, computed on demand.
template <class V> class UnitOptions {
public:
    UnitOptions(const Loads& loads, const Fields& fields, const GroupPlan& plan, bool single,
                std::size_t groups, Budget& budget)
        : loads_(loads), fields_(fields), plan_(plan), budget_(budget), single_(single) {
        std::uint32_t end = 0;
        for (std::size_t g = 0; g < groups; ++g) {
            const auto& group = plan.groups[g];
            first_unit_ = std::min(first_unit_, group.first);
            end = std::max(end, group.first + group.size);
        }
        ranges_.resize(end > first_unit_ ? end - first_unit_ : 0);
    }

    // Valid until the next call; the first option leaves nothing out.
    std::span<const Option<V>> of(std::uint32_t u) {
        auto& range = ranges_[u - first_unit_];
        if (!range.known) {
            range = {static_cast<std::uint32_t>(options_.size()), 0, true};
            find_options(u);
            range.size = static_cast<std::uint32_t>(options_.size()) - range.first;
            budget_.spend(range.size + loads_.unit(u).impaired);
        }
        return std::span(options_).subspan(range.first, range.size);
    }

private:
    void find_options(std::uint32_t u) {
        const auto& load = loads_.unit(u);
        if constexpr (std::is_same_v<V, Narrow>) {
            options_.push_back({0, V{1}, load.whole ? 0U : 1U});
        } else if (plan_.domains) {
            list_domains(u);
        } else {
            const auto quantum = loads_.quantum();
            const auto worst =
                fields_.settled_last ? std::vector<std::uint32_t>() : loads_.optional_avoidances(u);
            const auto least = std::max((load.required + quantum - 1) / quantum, 1U);
            if (load.quanta < least) return; // required hosts that do not fit into whole quanta
            auto most = fields_.settled_last ? 0 : std::min(load.quanta - least, plan_.slack);
            if (loads_.required() == 0)
                most = std::min(most, (static_cast<std::uint32_t>(worst.size()) + quantum - 1) / quantum);
            // Hosts that no segment holds, if these count: the more there are, the fewer segments that many
            // hosts hold.
            auto avoided =
                plan_.segments ? load.candidates % loads_.request().segment : loads_.total_avoidance(u);
            std::size_t dropped = 0; // hosts, worst first
            for (std::uint32_t drop = 0; drop <= most; ++drop) {
                const auto out = load.candidates - (load.quanta - drop) * quantum;
                for (; dropped < std::min<std::size_t>(out, worst.size()); ++dropped)
                    avoided -= worst[dropped];
                const auto left = load.free - load.candidates + out;
                options_.push_back({drop,
                                    pack({0, 1, 0, avoided, 0, load.whole && left > 0 ? 1U : 0U, 0, left}),
                                    !load.whole || left > 0 ? 1U : 0U});
            }
        }
        const bool can_go = !single_ && load.required == 0 && (plan_.kept.empty() || plan_.kept[u] == 0);
        if (can_go && load.quanta <= plan_.slack) options_.push_back({load.quanta, V{0}, 0});
    }

    V pack(const Cost& cost) const { return fields_.template pack<V>(cost); }

    // Every useful set of its domains, the set of all first.
    void list_domains(std::uint32_t u) {
        std::vector<NestedPart> parts;
        for (const auto& part : unit_parts(loads_, u))
            if (part.candidates > 0) parts.push_back(part);
        const auto& load = loads_.unit(u);
        const auto first = static_cast<std::ptrdiff_t>(options_.size());
        for (auto set = (1U << parts.size()) - 1; set > 0; --set) {
            auto drop = load.candidates;
            bool whole = true;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                if ((set >> i & 1) == 0) continue;
                drop -= parts[i].candidates;
                whole = whole && parts[i].whole();
            }
            if (drop > plan_.slack) continue;
            const std::uint32_t broken = load.whole && drop > 0 ? 1 : 0;
            const auto domains = static_cast<std::uint32_t>(std::popcount(set));
            const Option<V> option{drop, pack({0, 1, domains, 0, 0, broken, 0, drop}),
                                   !whole                    ? 2U
                                   : !load.whole || drop > 0 ? 1U
                                                             : 0U};
            const auto no_worse = [](const Option<V>& a, const Option<V>& b) {
                return a.drop == b.drop && a.cost <= b.cost && a.sink >= b.sink;
            };
            if (std::any_of(options_.begin() + first, options_.end(),
                            [&](const Option<V>& other) { return no_worse(other, option); }))
                continue;
            options_.erase(std::remove_if(options_.begin() + first, options_.end(),
                                          [&](const Option<V>& other) { return no_worse(option, other); }),
                           options_.end());
            options_.push_back(option);
        }
    }

    const Loads& loads_;
    const Fields& fields_;
    const GroupPlan& plan_;
    Budget& budget_;
    const bool single_;
    std::uint32_t first_unit_ = ~std::uint32_t{0}; // of all groups
    struct Range {
        std::uint32_t first = 0, size = 0;
        bool known = false;
    };
    std::vector<Range> ranges_; // by unit: of options_
    std::vector<Option<V>> options_;
};

} // namespace sched::packed
