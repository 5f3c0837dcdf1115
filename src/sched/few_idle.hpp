// A gang on shared hosts beside hosts that are kept free for restarts: which idle hosts it may take, where
// looking at all choices is too dear.
#pragma once

#include "sched/loads.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// Of pods [first, first + size): all their candidates that other jobs use, and so many idle ones as
// Loads::idle_limit() lets the gang take: those that are required, then those that complete a segment with
// the fewest others. By host, for Loads. nullopt: more idle hosts are required than may be taken, or the rest
// holds too few segments or hosts.
std::optional<std::vector<std::uint8_t>> with_few_idle(const Loads& loads, std::uint32_t first,
                                                       std::uint32_t size);

} // namespace sched
