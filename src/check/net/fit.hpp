// What each end of a rail contributes to the measures of pairs: a robust fit over the whole matrix, so that
// no single cell decides and a host is not blamed for its partners.
//
// A measure is expressed as slowness: the natural logarithm of a latency, or minus that of a bandwidth. The
// slower of the two ends of a pair determines the measure (a transfer is as fast as its narrowest part, and a
// delay that matters outweighs that of the other end):
//     slowness(a, b, rail) = level(rail) + max(end(a, rail), end(b, rail)) + noise
// An end is the Huber mean of its measures with partners that are not slower than itself, since only those
// depend on it; this is repeated until it converges. More than half of the hosts may be slow. Not every pair
// needs to have met: a few rounds are enough.
//
// Source: P. J. Huber, Robust Estimation of a Location Parameter (1964); J. W. Tukey, Exploratory Data
// Analysis (1977), ch. 10-11, for the separation by rails, hosts and leaves (culprits.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace check::net {

struct Cell {
    std::uint32_t a = 0, b = 0; // hosts, different ones
    std::uint32_t rail = 0;
    double slowness = 0;
};

struct End {
    double slowness = 0;     // above its rail's level
    std::uint32_t heard = 0; // measures that depend on it; 0: it was in none
};

struct Fit {
    std::uint32_t hosts = 0, rails = 0;
    std::vector<double> level; // of each rail: the lower median of its ends
    std::vector<End> ends;     // by host, then rail
    double noise = 0;          // of one measure: standard deviation, from the median of the residuals

    const End& end(std::uint32_t host, std::uint32_t rail) const {
        return ends[static_cast<std::size_t>(host) * rails + rail];
    }
};

// Linear in cells for each of at most 40 turns. Cells whose slowness is not finite are left out.
Fit fit(const std::vector<Cell>& cells, std::uint32_t hosts, std::uint32_t rails);

// The element at this share of the values, ordered from fast to slow; 0.5 is the lower median. 0 if empty.
double quantile(std::vector<double> values, double share);

} // namespace check::net
