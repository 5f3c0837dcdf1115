// Which rail, leaf, host or cable is slow, from the ends of a fit: slowness common to a rail, to the hosts
// below a leaf, or to a host's rails is named once, as that part, and subtracted from the rest.
//
// A named part is slower than the rest by `least` and by more than the noise of all ends explains (`chance`
// is the probability that anything is named on a fabric where nothing is slow).
#pragma once

#include "check/net/fit.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace check::net {

enum class Part { rail, leaf, host, cable };
std::string_view to_string(Part part);

struct Culprit {
    Part part = Part::cable;
    std::optional<std::uint32_t> host; // of a host or a cable
    std::optional<std::uint32_t> rail; // of a rail, a leaf or a cable
    std::optional<std::uint32_t> leaf; // of a leaf: the caller's number
    double slowness = 0;               // above the rest: 0.69 is half as fast
    bool operator==(const Culprit&) const = default;
};

struct Bar {
    double least = 0.05;   // 5 % slower
    double chance = 0.002; // of naming anything on a sound fabric
};

// `leaves`: the leaf to which each end is cabled, by host, then rail; empty: unknown. A host with one rail
// cannot be distinguished from its cable: the host is named. If more than half of the ends of a host, of a
// leaf, or of a rail are slow, the host, leaf or rail is named; with two hosts a slow pair can only be
// attributed to its rail. Ends without measures are not evaluated. The slowest first.
std::vector<Culprit> culprits(const Fit& fit, const std::vector<std::optional<std::uint32_t>>& leaves,
                              const Bar& bar = {});

// How much slower an end must be to be named, given the number of its measures.
double threshold(const Fit& fit, std::uint32_t heard, const Bar& bar);

} // namespace check::net
