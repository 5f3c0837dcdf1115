// The fewest NVLink domains, after the fewest pods and units, for fabrics too large to try every subset: what
// a unit's domains, a pod's units and the pods hold, each taken whole or left. It knows nothing of bounds or
// orders.
#pragma once

#include "cases.hpp"
#include "grid.hpp"
#include "sched/place.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sched_test {

// Health, rails and hosts in no domain aside; segments no larger than a domain; required hosts without
// segments.
class DomainOracle {
public:
    using Least = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // pods, units, domains

    DomainOracle(const topo::Fabric& fabric, const sched::Snapshot& snapshot, const sched::Request& request)
        : request_(request), segment_(std::max(request.segment, 1U)),
          need_(segment_ > 1 ? (request.nodes - request.spares) / segment_ : 0) {
        Table all = nothing();
        for (const auto& pod : fabric.pods) {
            Table in_pod = nothing();
            for (const auto u : pod.units) {
                std::vector<Load> loads(fabric.domains.size());
                for (const auto h : fabric.units[u].hosts) {
                    const auto listed = [&](const auto& list) {
                        return std::find(list.begin(), list.end(), h) != list.end();
                    };
                    if (snapshot.states[h] != sched::HostState::free || listed(request.excluded)) continue;
                    auto& load = loads[static_cast<std::size_t>(fabric.hosts[h].domain_index)];
                    ++load.hosts;
                    load.required = load.required || listed(request.required);
                }
                in_pod = joined(in_pod, table_of_unit(loads));
            }
            for (auto& entry : in_pod)
                entry.pods = entry.units > 0 ? 1 : 0;
            all = joined(all, in_pod);
        }
        all_ = std::move(all);
    }

    // Nothing: no part within the span holds the gang.
    std::optional<Least> least() const {
        std::optional<Least> best;
        for (const auto& entry : all_) {
            if (entry.hosts < request_.nodes || entry.segments < need_) continue;
            if (request_.span == sched::Span::domain && entry.domains > 1) continue;
            if (request_.span == sched::Span::unit && entry.units > 1) continue;
            if (request_.span == sched::Span::pod && entry.pods > 1) continue;
            const Least mine{entry.pods, entry.units, entry.domains};
            if (!best || mine < *best) best = mine;
        }
        return best;
    }

private:
    struct Load {
        std::uint32_t hosts = 0;
        bool required = false;
    };
    // What so many pods, units and domains hold at most, beside so many whole segments.
    struct Entry {
        std::uint32_t pods = 0, units = 0, domains = 0, segments = 0, hosts = 0;
    };
    using Table = std::vector<Entry>;

    static Table nothing() { return {Entry{}}; }

    Table joined(const Table& a, const Table& b) const {
        std::vector<Entry> sums;
        for (const auto& x : a)
            for (const auto& y : b)
                sums.push_back({x.pods + y.pods, x.units + y.units, x.domains + y.domains,
                                std::min(x.segments + y.segments, need_), x.hosts + y.hosts});
        const auto place = [](const Entry& e) { return std::tuple(e.pods, e.units, e.domains, e.segments); };
        std::sort(sums.begin(), sums.end(), [&](const Entry& x, const Entry& y) {
            return std::pair(place(x), y.hosts) < std::pair(place(y), x.hosts); // the most hosts first
        });
        sums.erase(std::unique(sums.begin(), sums.end(),
                               [&](const Entry& x, const Entry& y) { return place(x) == place(y); }),
                   sums.end());
        return sums;
    }

    Table table_of_unit(const std::vector<Load>& loads) const {
        Table table = nothing();
        for (const auto& load : loads) {
            if (load.hosts == 0) continue;
            Table one{{0, 0, 1, segment_ > 1 ? load.hosts / segment_ : 0, load.hosts}};
            if (!load.required) one.push_back({});
            table = joined(table, one);
        }
        for (auto& entry : table)
            entry.units = entry.domains > 0 ? 1 : 0;
        return table;
    }

    const sched::Request request_;
    const std::uint32_t segment_, need_;
    Table all_;
};

// Up to 200 hosts in domains of unequal size and room: segments, spares, spans, required and excluded hosts.
inline Case domain_case(std::mt19937_64& random) {
    const auto upto = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto hosts = 6 + upto(17), units = 1 + upto(3), pods = 1 + upto(3);
    auto fabric = grid(static_cast<int>(pods), static_cast<int>(units), static_cast<int>(hosts), 1);
    auto snapshot = sched::Snapshot::all_free(fabric);
    std::size_t largest = 0;
    std::uint32_t free = 0;
    for (const auto& unit : fabric.units) {
        std::uint32_t left = 0, busy = 0;
        for (const auto h : unit.hosts) {
            if (left == 0) {
                left = 2 + upto(hosts / 2);
                busy = upto(4) == 0 ? 0 : upto(90);
                fabric.domains.push_back({"nvl" + std::to_string(fabric.domains.size() + 1), {}});
            }
            --left;
            auto& domain = fabric.domains.back();
            domain.hosts.push_back(h);
            fabric.hosts[h].domain = domain.name;
            fabric.hosts[h].domain_index = static_cast<int>(fabric.domains.size()) - 1;
            largest = std::max(largest, domain.hosts.size());
            if (upto(100) < busy)
                snapshot.states[h] = sched::HostState::busy;
            else
                ++free;
        }
    }
    sched::Request request;
    if (upto(2) == 0) request.segment = 2 + upto(largest - 1);
    const auto segment = std::max(request.segment, 1U);
    if (upto(2) == 0) request.spares = upto(6);
    request.nodes = (1 + upto(1 + free / segment)) * segment + request.spares;
    if (upto(4) == 0) request.span = static_cast<sched::Span>(upto(5));
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
        if (snapshot.states[h] != sched::HostState::free) continue;
        if (segment == 1 && upto(40) == 0 && request.required.size() < std::min(request.nodes, 4U))
            request.required.push_back(h);
        else if (upto(40) == 0)
            request.excluded.push_back(h);
    }
    return {std::move(fabric), std::move(snapshot), std::move(request)};
}

} // namespace sched_test
