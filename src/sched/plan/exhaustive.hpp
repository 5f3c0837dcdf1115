// The best placement by trying every set of hosts: slow, but simple enough to trust. It shares the model of
// the fabric with place() (index.hpp) but nothing of its search.
#pragma once

#include "base/expected.hpp"
#include "sched/place.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched::plan {

inline constexpr std::uint64_t most_sets = 5'000'000; // some seconds

struct Exhausted {
    std::vector<std::uint32_t> hosts; // the first of the best sets, ascending; empty: nothing fits
    Score score;
    std::uint64_t sets = 0; // tried
    std::uint64_t best = 0; // number of sets as good as `hosts`
};

// For a range of nodes only the largest number that fits is tried. Errors: Code::usage if there are more than
// `limit` sets of the requested size, with their number, or if the request is contradictory.
base::Expected<Exhausted> exhaustive(const PlacementIndex& index, const Snapshot& snapshot,
                                     const Request& request, std::uint64_t limit = most_sets);

} // namespace sched::plan
