// Within which parts of the fabric the groups of a request are kept whole (--rail-segment).
//
// A group is kept within the smallest kind of part that has one large enough: an NVLink domain (or the hosts
// of a unit that are in none), a unit, a pod. The first size of a request is never kept in anything larger
// than a unit. Since each size divides the next and ranks follow the parts, only the largest size kept in a
// kind of part matters: the number of its hosts with ranks is a multiple of that.
#pragma once

#include "sched/ask/index.hpp"
#include "sched/ask/request.hpp"

#include <cstdint>
#include <vector>

namespace sched {

// Each a multiple of the previous one.
struct Steps {
    std::uint32_t domain = 1; // also 1 if the fabric has no domains
    std::uint32_t unit = 1;
    std::uint32_t pod = 1;
    std::uint32_t whole = 1; // of the gang: the largest size

    bool operator==(const Steps&) const = default;
    bool any() const { return whole > 1; }
};

// `sizes`: smallest first, each at least 1.
Steps steps_of(const PlacementIndex& index, const std::vector<std::uint32_t>& sizes);
Steps steps_of(const PlacementIndex& index, const Request& request);
Steps steps_of(std::uint32_t largest_domain, std::uint32_t largest_unit,
               const std::vector<std::uint32_t>& sizes);

// The sizes of a request, smallest first; none if it has no segments.
std::vector<std::uint32_t> sizes_of(const Request& request);

// The largest size; 1 if it has no segments.
std::uint32_t largest_segment(const Request& request);

// Turns a request whose groups only matter in units, on a fabric without domains, into one with a single
// size.
void fold_segments(const PlacementIndex& index, Request& request);

} // namespace sched
