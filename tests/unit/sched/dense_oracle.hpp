// The fewest pods and units for fabrics too large to try every subset: a programme over (pods, units,
// segments) that takes each unit or leaves it, and keeps the most hosts. It knows nothing of bounds, orders
// or labels.
#pragma once

#include "cases.hpp"
#include "sched/place.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <vector>

namespace sched_test {

class DenseOracle {
public:
    struct Least {
        std::uint32_t tier = 0, pods = 0, units = 0;
    };

    // Rails and health 0 aside: all free hosts count. Pods and units are the fabric's.
    DenseOracle(const topo::Fabric& fabric, const sched::Snapshot& snapshot, const sched::Request& request)
        : request_(request), segment_(std::max(request.segment, 1U)),
          spares_(segment_ > 1 ? request.spares : 0) {
        const auto listed = [](const std::vector<std::uint32_t>& list, std::uint32_t h) {
            return std::find(list.begin(), list.end(), h) != list.end();
        };
        for (const auto& pod : fabric.pods) {
            auto& units = pods_.emplace_back();
            for (const auto u : pod.units) {
                Unit unit;
                for (const auto h : fabric.units[u].hosts) {
                    const bool in =
                        snapshot.states[h] == sched::HostState::free && !listed(request.excluded, h);
                    unit.hosts += in ? 1 : 0;
                    unit.required += in && listed(request.required, h) ? 1 : 0;
                }
                units.push_back(unit);
                required_ += unit.required;
            }
        }
        for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h)
            wanted_ += listed(request.required, h) ? 1 : 0;
    }

    // Of the range, what any part within the span holds.
    std::optional<std::uint32_t> largest() const {
        if (required_ < wanted_) return std::nullopt;
        const auto most = std::max(request_.nodes, request_.most);
        for (auto nodes = most; nodes >= request_.nodes && nodes > spares_; --nodes) {
            if ((nodes - request_.spares) % segment_ != 0 || nodes <= request_.spares) continue;
            if (segment_ > 1 ? misses(segments(nodes)) > request_.spares : required_ > nodes) continue;
            std::vector<Unit> all;
            for (const auto& pod : pods_) {
                all.insert(all.end(), pod.begin(), pod.end());
                if (request_.span != sched::Span::unit && holds(pod, nodes)) return nodes;
                for (const auto& unit : pod)
                    if (holds({unit}, nodes)) return nodes;
            }
            if (request_.span != sched::Span::unit && request_.span != sched::Span::pod && holds(all, nodes))
                return nodes;
        }
        return std::nullopt;
    }

    // The least tier, pods and units of a gang that largest() says fits, none above these; nullopt: more.
    std::optional<Least> fewest(std::uint32_t nodes, std::uint32_t pods, std::uint32_t units) const {
        for (const auto& pod : pods_)
            for (const auto& unit : pod)
                if (holds({unit}, nodes)) return Least{0, 1, 1};
        std::optional<Least> best;
        for (const auto& pod : pods_)
            if (holds(pod, nodes))
                if (const auto least = programme({pod}, nodes, 1, static_cast<std::uint32_t>(pod.size()));
                    least && (!best || least->units < best->units))
                    best = Least{1, 1, least->units};
        if (best) return best;
        return programme(pods_, nodes, pods, units);
    }

private:
    struct Unit {
        std::uint32_t hosts = 0, required = 0;
    };
    using Pod = std::vector<Unit>;

    std::uint32_t segments(std::uint32_t nodes) const { return (nodes - spares_) / segment_; }

    // Required hosts that so many segments leave to the spares at least.
    std::uint32_t misses(std::uint32_t segments) const {
        std::vector<std::uint32_t> gains;
        std::uint32_t out = 0;
        for (const auto& pod : pods_)
            for (const auto& unit : pod) {
                out += unit.required;
                for (std::uint32_t s = 0; s < unit.hosts / segment_; ++s)
                    if (unit.required > s * segment_)
                        gains.push_back(std::min(segment_, unit.required - s * segment_));
            }
        std::sort(gains.begin(), gains.end(), std::greater<>());
        for (std::size_t i = 0; i < std::min<std::size_t>(segments, gains.size()); ++i)
            out -= gains[i];
        return out;
    }

    bool holds(const Pod& part, std::uint32_t nodes) const {
        std::uint32_t hosts = 0, whole = 0, required = 0;
        for (const auto& unit : part) {
            hosts += unit.hosts;
            whole += unit.hosts / segment_;
            required += unit.required;
        }
        return required == required_ && hosts >= nodes && whole >= segments(nodes);
    }

    std::optional<Least> programme(const std::vector<Pod>& pods, std::uint32_t nodes, std::uint32_t most_pods,
                                   std::uint32_t most_units) const {
        const auto need = segment_ > 1 ? segments(nodes) : 0;
        const std::size_t row = need + 1, layer = (most_units + 1) * row, size = (most_pods + 1) * layer;
        constexpr std::int64_t none = -1;
        std::vector<std::int64_t> closed(size, none); // most hosts by pods, units, segments
        closed[0] = 0;
        for (const auto& pod : pods) {
            std::vector<std::int64_t> fresh(size, none),
                open(size, none); // no unit of this pod taken yet; some
            for (std::size_t i = 0; i + layer < size; ++i)
                fresh[i + layer] = closed[i];
            bool must = false;
            for (const auto& unit : pod) {
                if (unit.hosts == 0) continue;
                const auto more = std::min<std::size_t>(segment_ > 1 ? unit.hosts / segment_ : 0, need);
                auto next = unit.required > 0 ? std::vector<std::int64_t>(size, none) : open;
                for (std::size_t i = 0; i < size; ++i) {
                    const auto held = std::max(open[i], fresh[i]);
                    if (held == none || i % layer + row >= layer) continue;
                    const auto whole = std::min<std::size_t>(i % row + more, need);
                    auto& to = next[i - i % row + row + whole];
                    to = std::max(to, held + unit.hosts);
                }
                open = std::move(next);
                if (unit.required == 0) continue;
                fresh.assign(size, none);
                must = true;
            }
            for (std::size_t i = 0; i < size; ++i)
                closed[i] = must ? open[i] : std::max(closed[i], open[i]);
        }
        for (std::uint32_t k = 1; k <= most_pods; ++k)
            for (std::uint32_t m = 1; m <= most_units; ++m)
                if (closed[k * layer + m * row + need] >= static_cast<std::int64_t>(nodes))
                    return Least{2, k, m};
        return std::nullopt;
    }

    const sched::Request request_;
    const std::uint32_t segment_, spares_;
    std::vector<Pod> pods_;
    std::uint32_t required_ = 0, wanted_ = 0;
};

// A question of 150 to 1,200 hosts in units of unequal room: segments, spares, ranges, spans, required and
// excluded hosts.
inline Case large_case(std::mt19937_64& random) {
    const auto upto = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto hosts = 4 + upto(21), units = 2 + upto(5);
    const auto pods = std::max(2U, (150 + upto(1051)) / (hosts * units));
    auto fabric = grid(static_cast<int>(pods), static_cast<int>(units), static_cast<int>(hosts), 1);
    auto snapshot = sched::Snapshot::all_free(fabric);
    for (const auto& unit : fabric.units) {
        const auto share = upto(5) == 0 ? 0 : upto(100);
        for (const auto h : unit.hosts)
            if (upto(100) < share) snapshot.states[h] = sched::HostState::busy;
    }
    std::uint32_t free = 0;
    for (const auto state : snapshot.states)
        free += state == sched::HostState::free ? 1 : 0;
    sched::Request request;
    if (upto(3) != 0) request.segment = 2 + upto(upto(2) == 0 ? 3 : 7);
    if (upto(2) == 0) request.spares = 1 + upto(upto(2) == 0 ? 4 : 1 + free / 8);
    const auto segment = std::max(request.segment, 1U);
    request.nodes = (1 + upto(1 + free / segment)) * segment + request.spares;
    if (upto(3) == 0) request.most = request.nodes + upto(free + 1);
    request.span = upto(5) == 0 ? static_cast<sched::Span>(upto(4)) : sched::Span::any;
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
        if (snapshot.states[h] != sched::HostState::free) continue;
        if (upto(150) == 0 && request.required.size() < request.nodes)
            request.required.push_back(h);
        else if (upto(50) == 0)
            request.excluded.push_back(h);
    }
    if (upto(2) == 0) request.required.clear();
    return {std::move(fabric), std::move(snapshot), std::move(request)};
}

} // namespace sched_test
