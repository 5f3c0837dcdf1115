// The labels of cover.cpp: what a number of units in a number of pods hold, pod by pod. Internal to
// src/sched.
#pragma once

#include "sched/search/budget.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sched::covering {

using Number = std::int64_t;

inline constexpr Number weights = 4096;      // of segments against hosts: 0 hosts only, 4096 segments only
inline constexpr Number unit_cost = 1 << 20; // one unit, in the sums of the bounds on units
inline constexpr auto no_limit = std::numeric_limits<std::uint32_t>::max();

// A pod: what it holds with 0, 1, … of its optional units, the largest first.
struct Pod {
    std::uint32_t index = 0;
    std::uint32_t forced = 0;            // units with required hosts
    std::vector<std::uint32_t> sizes;    // of the others, largest first
    std::vector<Number> segments, hosts; // [units taken of the others]

    Number all_segments() const { return segments.back(); }
    Number all_hosts() const { return hosts.back(); }
    std::uint32_t optional() const { return static_cast<std::uint32_t>(sizes.size()); }
};

// The weighted sum is segments × `segments` + hosts × `hosts` - units × `units`.
struct Weights {
    Number segments = 0, hosts = 0, units = 0;
};

struct Choice {
    std::vector<std::pair<std::size_t, std::uint32_t>> pods; // position in pods_, optional units
    std::uint32_t units = no_limit;
};

// The gang's needs.
struct Gang {
    Number segment = 1, spares = 0, segments = 0, nodes = 0;
};

// The number of optional units of a pod that increase a sum with these weights.
inline std::size_t preferred(const Pod& pod, const Weights& by, Number segment) {
    const auto worth = std::partition_point(pod.sizes.begin(), pod.sizes.end(), [&](std::uint32_t size) {
        return by.segments * (size / segment) + by.hosts * size > by.units;
    });
    return static_cast<std::size_t>(worth - pod.sizes.begin());
}

// The most that a pod adds to a sum with these weights, using the best number of its units.
inline Number value(const Pod& pod, const Weights& by, Number segment) {
    if (by.units == 0) return by.segments * pod.all_segments() + by.hosts * pod.all_hosts();
    const auto at = preferred(pod, by, segment);
    return by.segments * pod.segments[at] + by.hosts * pod.hosts[at] -
           by.units * (pod.forced + static_cast<Number>(at));
}

class Labels {
public:
    Labels(const std::vector<Pod>& pods, const Gang& gang, Budget& budget)
        : pods_(pods), budget_(budget), segment_(gang.segment), spares_(gang.spares),
          segments_(gang.segments), nodes_(gang.nodes) {}

    // The most that a number of pods, from a position in the order on, can add to a sum with these weights.
    struct Bound {
        Weights by;
        std::vector<Number> rest; // [position][pods]
    };

    // A choice of at most `count` pods and `target` units; `whole`: pods with all their units, which are not
    // counted. `beam`: only this many labels with most room are followed (0: all). nullopt: there is none,
    // the beam found none, or the budget is spent.
    std::optional<Choice> find(std::size_t count, bool whole, std::uint32_t target,
                               std::vector<Bound>& bounds, const std::vector<std::size_t>& order,
                               std::size_t beam) {
        for (auto& bound : bounds)
            if (bound.rest.empty()) {
                if (!budget_.spend(order.size() * (count + 40))) return std::nullopt;
                fill(bound, order, count);
            }
        arena_.assign(1, {});
        std::vector<std::vector<std::uint32_t>> at(count + 1); // by pods
        at[0].push_back(0);
        for (std::size_t i = 0; i < order.size(); ++i) {
            const auto& pod = pods_[order[i]];
            for (auto pods = std::min(i + 1, count) + 1; pods-- > 0;) {
                std::vector<std::uint32_t> next;
                if (pod.forced == 0)
                    for (const auto a : at[pods])
                        if (alive(arena_[a], bounds, i + 1, pods, count, target)) next.push_back(a);
                for (std::size_t l = 0; pods > 0 && l < at[pods - 1].size(); ++l) {
                    const auto from = at[pods - 1][l];
                    for (auto units = whole            ? pod.optional()
                                      : pod.forced > 0 ? 0
                                                       : 1;
                         units <= pod.optional(); ++units) {
                        auto label = arena_[from];
                        label.units += whole ? 0 : pod.forced + units;
                        if (label.units > target) break;
                        if (!budget_.spend(30)) return std::nullopt;
                        step(label, pod, units);
                        if (!alive(label, bounds, i + 1, pods, count, target)) continue;
                        label.parent = from;
                        label.pod = order[i];
                        label.optional = units;
                        next.push_back(static_cast<std::uint32_t>(arena_.size()));
                        arena_.push_back(label);
                    }
                }
                if (!budget_.spend(10 + next.size() * 120)) return std::nullopt;
                keep_best(next);
                at[pods] = std::move(next);
            }
            if (beam > 0) narrow(at, bounds, i + 1, count, target, beam);
        }
        return finished(at);
    }

private:
    struct Label {
        std::uint32_t units = 0;
        Number segments = 0, hosts = 0;
        std::uint32_t parent = no_limit; // the label that this one is derived from
        std::size_t pod = 0;
        std::uint32_t optional = 0; // optional units of that pod
    };

    void fill(Bound& bound, const std::vector<std::size_t>& order, std::size_t count) const {
        const auto width = count + 1;
        bound.rest.assign((order.size() + 1) * width, 0);
        std::vector<Number> top; // descending
        for (auto i = order.size(); i-- > 0;) {
            const auto v = value(pods_[order[i]], bound.by, segment_);
            top.insert(std::upper_bound(top.begin(), top.end(), v, std::greater<>()), v);
            if (top.size() > count) top.pop_back();
            Number sum = 0;
            for (std::size_t pods = 1; pods <= count; ++pods) {
                if (pods <= top.size()) sum += top[pods - 1];
                bound.rest[i * width + pods] = sum;
            }
        }
    }

    // Whether a label can still lead to a choice of `count` pods and `target` units.
    bool alive(const Label& label, const std::vector<Bound>& bounds, std::size_t place, std::size_t pods,
               std::size_t count, std::uint32_t target) const {
        return std::all_of(bounds.begin(), bounds.end(), [&](const Bound& bound) {
            return room(label, bound, place, pods, count, target) >= 0;
        });
    }
    Number room(const Label& label, const Bound& bound, std::size_t place, std::size_t pods,
                std::size_t count, std::uint32_t target) const {
        const auto& by = bound.by;
        return by.segments * (label.segments - segments_) + by.hosts * (label.hosts - nodes_) -
               by.units * (Number{label.units} - target) + bound.rest[place * (count + 1) + count - pods];
    }

    // Keeps those that are not dominated by another.
    void keep_best(std::vector<std::uint32_t>& list) const {
        std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
            const auto &x = arena_[a], &y = arena_[b];
            if (x.units != y.units) return x.units < y.units;
            if (x.segments != y.segments) return x.segments > y.segments;
            return x.hosts != y.hosts ? x.hosts > y.hosts : a < b;
        });
        std::map<Number, Number> stair; // by segments, hosts: they fall as segments rise
        std::size_t kept = 0;
        for (const auto a : list) {
            const auto& x = arena_[a];
            auto at = stair.lower_bound(x.segments);
            if (at != stair.end() && at->second >= x.hosts) continue;
            if (at != stair.end() && at->first == x.segments) at = stair.erase(at);
            while (at != stair.begin() && std::prev(at)->second <= x.hosts)
                at = stair.erase(std::prev(at));
            stair[x.segments] = x.hosts;
            list[kept++] = a;
        }
        list.resize(kept);
    }

    // More segments than the gang has, and hosts that neither these nor the spares can use, do not count.
    void step(Label& label, const Pod& pod, std::uint32_t units) const {
        const auto segments = label.segments + pod.segments[units];
        label.hosts = std::min(nodes_, label.hosts + pod.hosts[units]);
        label.segments = std::min(segments_, segments);
        if (segments <= segments_) label.hosts = std::min(label.hosts, segment_ * segments + spares_);
    }

    void narrow(std::vector<std::vector<std::uint32_t>>& at, const std::vector<Bound>& bounds,
                std::size_t place, std::size_t count, std::uint32_t target, std::size_t beam) {
        std::vector<std::pair<double, std::uint32_t>> all; // least room first
        for (std::size_t pods = 0; pods < at.size(); ++pods)
            for (const auto a : at[pods]) {
                auto least = std::numeric_limits<double>::max();
                for (const auto& bound : bounds)
                    least = std::min(
                        least, static_cast<double>(room(arena_[a], bound, place, pods, count, target)) /
                                   static_cast<double>(bound.by.units != 0 ? unit_cost : weights * segment_));
                all.emplace_back(-least, a);
            }
        if (all.size() <= beam) return;
        budget_.spend(all.size() * 40);
        std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(beam), all.end());
        std::vector<std::uint8_t> keep(arena_.size(), 0);
        for (std::size_t i = 0; i < beam; ++i)
            keep[all[i].second] = 1;
        for (auto& list : at)
            std::erase_if(list, [&](std::uint32_t a) { return keep[a] == 0; });
    }

    std::optional<Choice> finished(const std::vector<std::vector<std::uint32_t>>& at) const {
        auto best = no_limit;
        for (const auto& list : at)
            for (const auto a : list)
                if (arena_[a].segments >= segments_ && arena_[a].hosts >= nodes_ &&
                    (best == no_limit || arena_[a].units < arena_[best].units))
                    best = a;
        if (best == no_limit) return std::nullopt;
        Choice choice;
        choice.units = arena_[best].units;
        for (auto a = best; arena_[a].parent != no_limit; a = arena_[a].parent)
            choice.pods.emplace_back(arena_[a].pod, arena_[a].optional);
        return choice;
    }

    const std::vector<Pod>& pods_;
    Budget& budget_;
    const Number segment_, spares_, segments_, nodes_;
    std::vector<Label> arena_;
};

} // namespace sched::covering
