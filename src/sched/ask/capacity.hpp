// What a fabric can hold at most, and what is rejected because of it: at submission, and wherever a
// submission is replayed.
#pragma once

#include "base/expected.hpp"
#include "sched/ask/hints.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sched {

// What a fabric holds if every host is free.
struct Capacity {
    std::vector<std::vector<std::uint32_t>> units; // [pod][unit]: hosts
    std::uint32_t spare_floor = 0;                 // how many of these hosts are kept free for restarts
    // [pod][unit]: hosts of each NVLink domain in the unit, then those in none; empty: the fabric has no
    // domains.
    std::vector<std::vector<std::vector<std::uint32_t>>> domains{};
    std::uint32_t largest_domain = 0; // hosts

    static Capacity of(const topo::Fabric& fabric);

    // The largest gang of ranks in groups of `segment` hosts (0: no groups) that fits into the largest part
    // of a span, including this many spares.
    std::uint32_t most(Span span, std::uint32_t segment, std::uint32_t spares) const;
    std::uint32_t most(Span span, const std::vector<std::uint32_t>& sizes, std::uint32_t spares) const;
    std::uint32_t largest(Span span) const; // hosts of the largest domain, unit or pod; for fabric all
};

// Whether a job with `hints` may have `nodes` to `most` nodes (0: exactly `nodes`). Errors (Code::usage for
// contradictions; Code::unfit for what this fabric can never hold) are for the user. Without `capacity` (no
// fabric is known) nothing is too large. `option`: the option that requests more nodes.
base::Expected<void> judge_nodes(const Hints& hints, std::uint32_t nodes, std::uint32_t most,
                                 const std::optional<Capacity>& capacity,
                                 std::string_view option = "--nodes");

} // namespace sched
