// A fabric reduced to what placement needs: for a large fabric, the rest is nearly all of the memory.
#pragma once

#include "sched/place.hpp"

#include <atomic>
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

    // By name; replaces topo::Fabric::find_host, whose index has been freed.
    std::optional<std::uint32_t> find_host(std::string_view name) const;

    topo::Fabric fabric; // names, units and pods
    Placer placer;       // refers to `fabric`
    // Hosts kept free for restarts (spare_floor.hpp); may change while other threads place jobs.
    mutable std::atomic<std::uint32_t> spare_floor;

private:
    std::vector<std::uint32_t> by_name_; // hosts, in order of their names
};

} // namespace sched
