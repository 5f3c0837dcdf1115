// A fabric to place on, without what only the making of its placer needed: of a large fabric that is nearly
// all.
#pragma once

#include "sched/place.hpp"

#include <cstdint>
#include <utility>

namespace sched {

struct Placing {
    explicit Placing(topo::Fabric&& from, std::uint32_t floor = 0)
        : fabric(std::move(from)), placer(fabric), spare_floor(floor) {
        fabric.links = {};
        fabric.switches = {};
        for (auto& host : fabric.hosts)
            host.hcas = {};
    }
    Placing(const Placing&) = delete;
    Placing& operator=(const Placing&) = delete;

    topo::Fabric fabric;
    Placer placer;             // refers to `fabric`
    std::uint32_t spare_floor; // hosts kept free for restarts (spare_floor.hpp)
};

} // namespace sched
