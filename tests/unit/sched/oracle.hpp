// The slow truth for placement: every subset of the hosts, scored straight from the fabric.
#pragma once

#include "sched/place.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace sched_test {

using Terms = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, long, std::uint32_t,
                         std::uint32_t, std::uint32_t>;

inline Terms terms(const sched::Score& s) {
    return {s.tier,  s.pods,         s.units,    s.misaligned_rails, std::lround(s.avoidance * 1000),
            s.moved, s.broken_units, s.left_over};
}

class Oracle {
public:
    // `had`: as Request::had.
    Oracle(const topo::Fabric& fabric, const sched::Snapshot& snapshot, bool shared = false,
           const std::vector<std::uint32_t>& had = {})
        : fabric_(fabric), snapshot_(snapshot), shared_(shared), had_(had.begin(), had.end()) {}

    // The number of hosts and the best score for this request by trying every subset of the free hosts.
    std::optional<std::pair<std::uint32_t, Terms>> best_of_range(const sched::Request& request) const {
        for (auto nodes = std::max(request.nodes, request.most); nodes >= request.nodes && nodes > 0; --nodes)
            if (const auto terms = best(request, nodes)) return std::pair(nodes, *terms);
        return std::nullopt;
    }

    std::optional<Terms> best(const sched::Request& request) const { return best(request, request.nodes); }

    // With exactly so many hosts.
    std::optional<Terms> best(const sched::Request& request, std::uint32_t nodes) const {
        const auto ranks = static_cast<std::int64_t>(nodes) - request.spares;
        const auto segment = std::max(request.segment, 1U);
        if (ranks <= 0 || ranks % segment != 0) return std::nullopt;
        std::int64_t idle = 0;
        for (std::uint32_t h = 0; h < fabric_.hosts.size(); ++h)
            idle += free(h) && snapshot_.states[h] == sched::HostState::free ? 1 : 0;
        // Hosts in use already keep no floor, so that only the idle ones that are taken count.
        const auto may_go = request.spare_floor == 0
                                ? idle
                                : std::max<std::int64_t>(idle - request.spare_floor, 0) + request.spares;
        std::vector<std::uint32_t> usable;
        for (std::uint32_t h = 0; h < fabric_.hosts.size(); ++h)
            if (free(h) && std::count(request.excluded.begin(), request.excluded.end(), h) == 0)
                usable.push_back(h);
        std::optional<Terms> best;
        std::vector<std::uint32_t> hosts;
        for (std::uint32_t set = 0; set < std::uint32_t{1} << usable.size(); ++set) {
            if (static_cast<std::uint32_t>(__builtin_popcount(set)) != nodes) continue;
            hosts.clear();
            for (std::size_t i = 0; i < usable.size(); ++i)
                if (set >> i & 1) hosts.push_back(usable[i]);
            const bool has_required =
                std::all_of(request.required.begin(), request.required.end(),
                            [&](std::uint32_t r) { return std::count(hosts.begin(), hosts.end(), r) == 1; });
            if (!has_required || whole_segments(hosts, segment) < ranks / segment) continue;
            if (std::count_if(hosts.begin(), hosts.end(), [&](std::uint32_t h) {
                    return snapshot_.states[h] == sched::HostState::free;
                }) > may_go)
                continue;
            const auto score = this->score(hosts);
            const auto widest = request.span == sched::Span::unit  ? 0U
                                : request.span == sched::Span::pod ? 1U
                                                                   : 2U;
            if (std::get<0>(score) > widest) continue;
            if (!best || score < *best) best = score;
        }
        return best;
    }

    Terms score(const std::vector<std::uint32_t>& hosts) const {
        std::set<int> units, pods;
        long avoidance = 0;
        for (const auto h : hosts) {
            units.insert(fabric_.hosts[h].unit);
            pods.insert(pod_of(h));
            if (!snapshot_.health.empty()) avoidance += std::lround((1 - snapshot_.health[h]) * 1000);
        }
        const std::uint32_t tier = units.size() == 1 ? 0 : pods.size() == 1 ? 1 : 2;
        std::uint32_t misaligned = 0;
        for (std::size_t r = 0; r < static_cast<std::size_t>(fabric_.rails); ++r) {
            std::set<int> places;
            for (const auto h : hosts) {
                const int leaf = fabric_.hosts[h].leaves[r];
                if (leaf < 0)
                    places.insert({-1, -2}); // missing: never one place
                else
                    places.insert(tier == 0   ? leaf
                                  : tier == 1 ? fabric_.switches[static_cast<std::size_t>(leaf)].pod
                                              : 0);
            }
            misaligned += places.size() != 1 ? 1 : 0;
        }
        std::uint32_t broken = 0, left = 0;
        for (const int u : units) {
            const auto& members = fabric_.units[static_cast<std::size_t>(u)].hosts;
            const auto frees = static_cast<std::size_t>(
                std::count_if(members.begin(), members.end(), [&](auto h) { return free(h); }));
            const auto taken = static_cast<std::size_t>(std::count_if(
                hosts.begin(), hosts.end(), [&](auto h) { return fabric_.hosts[h].unit == u; }));
            left += static_cast<std::uint32_t>(frees - taken);
            broken += frees == members.size() && taken < frees ? 1 : 0;
        }
        const auto moved = had_.empty() ? 0 : std::count_if(hosts.begin(), hosts.end(), [&](auto h) {
            return had_.count(h) == 0;
        });
        return {tier,
                static_cast<std::uint32_t>(pods.size()),
                static_cast<std::uint32_t>(units.size()),
                misaligned,
                avoidance,
                static_cast<std::uint32_t>(moved),
                broken,
                left};
    }

    std::int64_t whole_segments(const std::vector<std::uint32_t>& hosts, std::uint32_t segment) const {
        std::map<int, std::uint32_t> by_unit;
        for (const auto h : hosts)
            ++by_unit[fabric_.hosts[h].unit];
        std::int64_t segments = 0;
        for (const auto& [unit, count] : by_unit)
            segments += count / segment;
        return segments;
    }

private:
    bool free(std::uint32_t h) const {
        const auto state = snapshot_.states[h];
        return (state == sched::HostState::free || (shared_ && state == sched::HostState::mixed)) &&
               (snapshot_.health.empty() || snapshot_.health[h] > 0);
    }
    int pod_of(std::uint32_t h) const {
        return fabric_.units[static_cast<std::size_t>(fabric_.hosts[h].unit)].pod;
    }

    const topo::Fabric& fabric_;
    const sched::Snapshot& snapshot_;
    const bool shared_;
    const std::set<std::uint32_t> had_;
};

} // namespace sched_test
