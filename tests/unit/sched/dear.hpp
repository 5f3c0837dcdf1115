// Requests that a user could make dear, for tests and benchmarks.
#pragma once

#include "sched/place.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>

namespace sched_test {

// A range of sizes, odd segments, spares and required hosts, on hosts that are free in part or unsound.
struct Dear {
    sched::Snapshot snapshot;
    sched::Request request;
};

inline Dear dear(std::mt19937_64& random, const topo::Fabric& fabric) {
    const auto upto = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto hosts = fabric.hosts.size();
    Dear out{sched::Snapshot::all_free(fabric), {}};
    std::uint32_t free = 0;
    const auto busy = upto(4) == 0 ? 0 : upto(90);
    const bool by_unit = upto(2) == 0;
    std::uint32_t share = busy;
    for (std::size_t h = 0; h < hosts; ++h) {
        if (by_unit && h % 32 == 0) share = upto(busy + 1);
        if (upto(100) < share) out.snapshot.states[h] = sched::HostState::busy;
        free += out.snapshot.states[h] == sched::HostState::free ? 1 : 0;
    }
    if (upto(3) == 0) {
        out.snapshot.health.assign(hosts, 1);
        for (auto& health : out.snapshot.health)
            if (upto(20) == 0) health = static_cast<float>(1 + upto(100)) / 101;
    }
    auto& request = out.request;
    free = std::max(free, 2U);
    const auto log_upto = [&](std::uint32_t most) {
        return 1 + upto(std::uint64_t{1} << upto(static_cast<std::uint64_t>(std::bit_width(most))));
    };
    request.segment = upto(4) == 0 ? 0 : upto(2) == 0 ? 2 + upto(7) : log_upto(32);
    request.spares = upto(3) == 0 ? 0 : upto(2) == 0 ? 1 : log_upto(free / 2);
    const auto segment = std::max(request.segment, 1U);
    const auto gangs = std::max((free - std::min(free, request.spares)) / segment, 1U);
    request.nodes = std::min(log_upto(gangs), gangs) * segment + request.spares;
    if (upto(2) == 0) request.most = static_cast<std::uint32_t>(hosts);
    if (request.most != 0 && request.most < request.nodes) request.most = 0;
    request.span = upto(4) == 0 ? static_cast<sched::Span>(upto(4)) : sched::Span::any;
    if (upto(3) == 0)
        for (auto count = log_upto(64); count > 0; --count)
            if (const auto h = upto(hosts); out.snapshot.states[h] == sched::HostState::free)
                request.required.push_back(h);
    auto& required = request.required;
    std::sort(required.begin(), required.end());
    required.erase(std::unique(required.begin(), required.end()), required.end());
    if (required.size() > request.nodes) required.resize(request.nodes);
    return out;
}

} // namespace sched_test
