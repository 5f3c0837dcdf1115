// The slow truth for placement: every subset of the hosts, scored straight from the fabric.
#pragma once

#include "sched/ask/segments.hpp"
#include "sched/place.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace sched_test {

// Tier, pods, units, domains, misaligned rails, avoidance, moved, broken domains and units, left over in
// both.
using Terms = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, long,
                         std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

inline Terms terms(const sched::Score& s) {
    return {s.tier,
            s.pods,
            s.units,
            s.domains,
            s.misaligned_rails,
            std::lround(s.avoidance * 1000),
            s.moved,
            s.broken_domains,
            s.broken_units,
            s.left_in_domains,
            s.left_over};
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
        const auto sizes = sizes_of(request);
        if (ranks <= 0 || ranks % (sizes.empty() ? 1 : sizes.back()) != 0) return std::nullopt;
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
            if (!has_required || !holds_ranks(hosts, sizes, ranks)) continue;
            if (std::count_if(hosts.begin(), hosts.end(), [&](std::uint32_t h) {
                    return snapshot_.states[h] == sched::HostState::free;
                }) > may_go)
                continue;
            const auto score = this->score(hosts);
            if (request.span == sched::Span::domain && !in_one_domain(hosts)) continue;
            const auto widest = request.span == sched::Span::domain || request.span == sched::Span::unit ? 0U
                                : request.span == sched::Span::pod                                       ? 1U
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
        std::uint32_t domains = 0, broken_domains = 0, left_in_domains = 0;
        std::map<std::pair<int, int>, std::size_t> by_domain; // unit and domain
        for (const auto h : hosts)
            ++by_domain[{fabric_.hosts[h].unit, fabric_.hosts[h].domain_index}];
        for (const auto& [place, taken] : by_domain) {
            if (fabric_.domains.empty()) break;
            const auto [unit, domain] = place;
            domains += domain == topo::none ? static_cast<std::uint32_t>(taken) : 1;
            if (domain == topo::none) continue;
            std::size_t members = 0, frees = 0;
            for (const auto h : fabric_.units[static_cast<std::size_t>(unit)].hosts) {
                if (fabric_.hosts[h].domain_index != domain) continue;
                ++members;
                frees += free(h) ? 1 : 0;
            }
            left_in_domains += static_cast<std::uint32_t>(frees - taken);
            broken_domains += frees == members && taken < frees ? 1 : 0;
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
                domains,
                misaligned,
                avoidance,
                static_cast<std::uint32_t>(moved),
                broken_domains,
                broken,
                left_in_domains,
                left};
    }

    // Whether so many ranks in whole groups of these sizes are among the hosts, each size kept within the
    // smallest kind of part that has one so large, the first one at most within a unit.
    bool holds_ranks(const std::vector<std::uint32_t>& hosts, const std::vector<std::uint32_t>& sizes,
                     std::int64_t ranks) const {
        std::map<std::tuple<int, int>, std::uint32_t> by_domain;
        std::map<int, std::uint32_t> by_unit, by_pod;
        std::uint32_t all = 0;
        std::map<std::pair<int, int>, std::size_t> domain_sizes;
        std::size_t largest_domain = 0, largest_unit = 0;
        for (const auto& host : fabric_.hosts)
            if (host.domain_index != topo::none)
                largest_domain = std::max(largest_domain, ++domain_sizes[{host.unit, host.domain_index}]);
        for (const auto& unit : fabric_.units)
            largest_unit = std::max(largest_unit, unit.hosts.size());
        std::uint32_t in_domain = 1, in_unit = 1, in_pod = 1;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (sizes[i] <= largest_domain)
                in_domain = sizes[i];
            else if (i == 0 || sizes[i] <= largest_unit)
                in_unit = sizes[i];
            else
                in_pod = sizes[i];
        }
        const auto down = [](std::uint32_t count, std::uint32_t size) { return count - count % size; };
        for (const auto h : hosts)
            ++by_domain[{fabric_.hosts[h].unit, fabric_.hosts[h].domain_index}];
        for (const auto& [place, count] : by_domain)
            by_unit[std::get<0>(place)] += down(count, in_domain);
        for (const auto& [unit, count] : by_unit)
            by_pod[fabric_.units[static_cast<std::size_t>(unit)].pod] += down(count, in_unit);
        for (const auto& [pod, count] : by_pod)
            all += down(count, in_pod);
        return all >= ranks;
    }

private:
    bool in_one_domain(const std::vector<std::uint32_t>& hosts) const {
        return hosts.size() == 1 || std::all_of(hosts.begin(), hosts.end(), [&](std::uint32_t h) {
                   const auto &host = fabric_.hosts[h], &first = fabric_.hosts[hosts.front()];
                   return host.unit == first.unit && host.domain_index == first.domain_index &&
                          host.domain_index != topo::none;
               });
    }
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
