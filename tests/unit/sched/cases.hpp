// Random questions for placement, for tests and benchmarks.
#pragma once

#include "grid.hpp"
#include "sched/place.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace sched_test {

// What else a job can ask: groups of ranks, spares, a range of sizes, shared hosts, hosts kept for restarts,
// its former hosts.
inline void ask_more(std::mt19937_64& random, sched::Snapshot& snapshot, sched::Request& request) {
    const auto upto = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    if (upto(2) == 0) request.segment = 1 + upto(3);
    if (upto(2) == 0) request.spares = upto(4);
    const auto segment = std::max(request.segment, 1U);
    if (upto(3) == 0) request.most = request.nodes + upto(6);
    if (upto(4) == 0) request.spare_floor = upto(4);
    request.order = static_cast<sched::RankOrder>(upto(3));
    if (upto(4) == 0) {
        request.shared = true;
        for (auto& state : snapshot.states)
            if (state == sched::HostState::free && upto(3) == 0) state = sched::HostState::mixed;
    }
    if (upto(2) == 0) // it starts again, and had some of these, the free ones and others
        for (std::uint32_t h = 0; h < snapshot.states.size(); ++h)
            if (upto(3) == 0) request.had.push_back(h);
    // A request that contradicts itself is another test's: mend its size.
    auto& largest = request.most != 0 ? request.most : request.nodes;
    largest = std::max(largest, request.spares + segment);
    largest = (largest - request.spares) / segment * segment + request.spares;
    request.nodes = std::min(request.nodes, largest);
    while (request.required.size() > largest)
        request.required.pop_back();
}

// One question, small enough for every subset of its hosts to be tried.
struct Case {
    topo::Fabric fabric;
    sched::Snapshot snapshot;
    sched::Request request;
};

// `wild` adds crossed cables, missing rails, health, required and excluded hosts; `more` what ask_more()
// does.
inline Case random_case(std::mt19937_64& random, bool wild, bool more) {
    const auto upto = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
    const bool wide = upto(3) == 0; // many small pods, so that many can be exchanged
    const int pods = 1 + upto(wide ? 8 : 3), units = 1 + upto(wide ? 2 : 3), hosts = 1 + upto(3);
    auto fabric = grid(pods, units, hosts, 3);
    const auto count = fabric.hosts.size();
    if (wild && upto(2) == 0)
        for (int cables = upto(4); cables > 0; --cables) {
            auto& leaf = fabric.hosts[random() % count].leaves[random() % 3];
            leaf = upto(3) == 0 ? topo::none : upto(static_cast<std::uint64_t>(fabric.switches.size()));
        }
    auto snapshot = sched::Snapshot::all_free(fabric);
    std::size_t free = 0;
    const auto share = 2 + random() % 6;
    for (auto& state : snapshot.states) {
        const bool is_free = free < 14 && random() % 8 < share;
        state = is_free ? sched::HostState::free : sched::HostState::busy;
        free += is_free ? 1 : 0;
    }
    if (wild && upto(2) == 0) {
        snapshot.health.assign(count, 1);
        for (auto& health : snapshot.health)
            if (upto(3) == 0) health = static_cast<float>(upto(5)) / 4;
    }
    sched::Request request;
    request.nodes = 1 + static_cast<std::uint32_t>(random() % (free + 1));
    request.span = static_cast<sched::Span>(upto(4));
    if (wild)
        for (std::uint32_t h = 0; h < count; ++h) {
            if (upto(12) == 0 && request.required.size() < request.nodes)
                request.required.push_back(h);
            else if (upto(12) == 0)
                request.excluded.push_back(h);
        }
    if (more) ask_more(random, snapshot, request);
    return {std::move(fabric), std::move(snapshot), std::move(request)};
}

// The same with NVLink domains of about so many hosts; some hosts are in none, a few domains cross units.
inline Case with_domains(std::mt19937_64& random, Case c) {
    const auto upto = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
    const auto size = static_cast<std::size_t>(1 + upto(3));
    int next = 0;
    for (auto& unit : c.fabric.units)
        for (std::size_t i = 0; i < unit.hosts.size(); ++i) {
            next += i % size == 0 || upto(12) == 0 ? 1 : 0;
            auto& host = c.fabric.hosts[unit.hosts[i]];
            if (upto(8) != 0) host.domain_index = next;
            if (upto(30) == 0) host.domain_index = 1 + upto(static_cast<std::uint64_t>(next) + 1);
        }
    // Numbered by first host, as derive() does.
    std::map<int, int> numbers;
    for (std::uint32_t h = 0; h < c.fabric.hosts.size(); ++h) {
        auto& host = c.fabric.hosts[h];
        if (host.domain_index == topo::none) continue;
        const auto [number, fresh] = numbers.try_emplace(host.domain_index, static_cast<int>(numbers.size()));
        if (fresh) c.fabric.domains.push_back({"nvl" + std::to_string(number->second + 1), {}});
        host.domain_index = number->second;
        host.domain = c.fabric.domains[static_cast<std::size_t>(host.domain_index)].name;
        c.fabric.domains[static_cast<std::size_t>(host.domain_index)].hosts.push_back(h);
    }
    if (upto(6) == 0) c.request.span = sched::Span::domain;
    return c;
}

// Groups of groups: the gang is made a multiple of the largest.
inline void nest(std::mt19937_64& random, sched::Request& request) {
    const auto upto = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    request.segment = 1 + upto(2);
    auto size = request.segment;
    for (auto levels = 1 + upto(2); levels > 0; --levels)
        request.outer_segments.push_back(size *= 2 + upto(2));
    auto& largest = request.most != 0 ? request.most : request.nodes;
    largest = std::max(largest, request.spares + size);
    largest = (largest - request.spares) / size * size + request.spares;
    request.nodes = std::min(request.nodes, largest);
    while (request.required.size() > largest)
        request.required.pop_back();
}

} // namespace sched_test
