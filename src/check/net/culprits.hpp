// Which rail, leaf, host or cable is slow, from the ends of a fit: what is common to a rail, to the hosts
// below a leaf, to a host's rails is named once, as that, and taken off before what is left is judged.
//
// What is named is slower than the rest by `least` and by more than the noise of all ends would ever show (a
// chance of `chance` that anything is named where nothing is slow).
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
    std::optional<std::uint32_t> leaf; // of a leaf: as the caller numbers them
    double slowness = 0;               // above the rest: 0.69 is half as fast
    bool operator==(const Culprit&) const = default;
};

struct Bar {
    double least = 0.05;   // 5 % slower
    double chance = 0.002; // of naming anything on a sound fabric
};

// `leaves`: of each end, by host, then rail, which leaf it is cabled to; empty: unknown. A host with one
// rail, and its cable, cannot be told apart: it is named as a host. More than half of a host's rails make a
// host, of a leaf's ends a leaf, of the hosts a rail; with two hosts a slow pair can only be named by its
// rail. Ends that nobody heard of are judged by nothing. The slowest first.
std::vector<Culprit> culprits(const Fit& fit, const std::vector<std::optional<std::uint32_t>>& leaves,
                              const Bar& bar = {});

// How much slower an end must be to be named, having been heard of so often.
double threshold(const Fit& fit, std::uint32_t heard, const Bar& bar);

} // namespace check::net
