// Units that leave fewer free hosts over than the largest ones do. Internal to src/sched.
#pragma once

#include "sched/budget.hpp"
#include "sched/cover.hpp"
#include "sched/loads.hpp"

#include <cstdint>
#include <vector>

namespace sched {

// The units of a cover (cover.hpp), pod by pod.
std::vector<std::uint32_t> units_of(const Loads& loads, const Cover& cover);

// As many units of as many pods, of pods [first, first + size), that hold the gang of a segmented() request,
// too, and have fewer free hosts, at best as many as the gang: units without required hosts are exchanged,
// one or two at a time, for others that are no less sound. Not exact.
std::vector<std::uint32_t> tightened(const Loads& loads, std::vector<std::uint32_t> units,
                                     std::uint32_t first, std::uint32_t size, Budget& budget);

} // namespace sched
