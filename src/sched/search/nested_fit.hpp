// How large a gang parts of the fabric hold if its groups are kept within several kinds of part: multiples of
// one size in domains, of another in units, and of a third in pods (segments.hpp).
#pragma once

#include "sched/search/loads.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace sched {

// Whether a request on this fabric needs the functions here, and the search in nested.hpp.
bool is_nested(const PlacementIndex& index, const Steps& steps, Span span = Span::any);

struct NestedRoom {
    std::uint32_t hosts = 0;
    std::uint32_t least = 0; // ranks taken by the required hosts if none of them is a spare
    std::uint32_t most = 0;  // ranks that fit; below `least`: the required hosts do not fit
    std::uint32_t required = 0;
};

// For each host: 0 is ignored, 1 may be taken, 2 must be taken.
using HostKind = std::function<int(std::uint32_t host)>;

// For a unit (not rounded to what pods keep whole), a pod, and a part of a unit as one domain.
NestedRoom room_in_unit(const PlacementIndex& index, const Steps& steps, std::uint32_t unit,
                        const HostKind& kind);
NestedRoom room_in_pod(const PlacementIndex& index, const Steps& steps, std::uint32_t pod,
                       const HostKind& kind);
NestedRoom room_in_domain(const PlacementIndex& index, const Steps& steps, std::uint32_t domain,
                          const HostKind& kind);

// The largest gang with this many spares, at most `most`, in a room; 0: none.
std::uint32_t largest_gang(const NestedRoom& room, const Steps& steps, std::uint32_t spares,
                           std::uint32_t most);

// Like largest_that_fits() and least_for_required() (fit.hpp).
std::optional<std::uint32_t> largest_nested(const Loads& loads, std::uint32_t least, std::uint32_t most);
std::optional<std::uint32_t> least_nested_for_required(const Loads& loads);

} // namespace sched
