// A fabric to place on, without what only the making of its placer needed: of a large fabric that is nearly
// all of the memory.
#pragma once

#include "sched/place.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sched {

class Placing {
public:
    explicit Placing(topo::Fabric&& from, std::uint32_t floor = 0);
    Placing(const Placing&) = delete;
    Placing& operator=(const Placing&) = delete;

    // By name; in place of topo::Fabric::find_host, whose index is given up.
    std::optional<std::uint32_t> find_host(std::string_view name) const;

    topo::Fabric fabric;       // names, units and pods
    Placer placer;             // refers to `fabric`
    std::uint32_t spare_floor; // hosts kept free for restarts (spare_floor.hpp)

private:
    std::vector<std::uint32_t> by_name_; // hosts, in order of their names
};

} // namespace sched
