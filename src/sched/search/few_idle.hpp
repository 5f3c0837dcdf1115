// A gang on shared hosts beside hosts that are kept free for restarts: how large it can be, and which idle
// hosts it may take where looking at all choices is too dear.
#pragma once

#include "sched/search/loads.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// Of pods [first, first + size): all their candidates that other jobs use, and so many idle ones as
// Loads::idle_limit() lets the gang take: those that are required, those of segments that take in other
// required hosts, then those that complete a segment with the fewest others. By host, for Loads. nullopt:
// more idle hosts are required than may be taken, or the rest holds too few segments or hosts.
std::optional<std::vector<std::uint8_t>> with_few_idle(const Loads& loads, std::uint32_t first,
                                                       std::uint32_t size);

// What fits within the span without more idle hosts than Loads::idle_limit(), of gangs of up to `most` nodes.
struct IdleRoom {
    std::uint32_t most = 0; // no gang has more; 0: none fits
    std::uint32_t sure = 0; // one of so many fits; 0: only a search tells
};

// The two are the same but for required hosts beside spares, and for what is_nested(). Costs some
// microseconds for a thousand hosts. Does not use Loads::need().
IdleRoom idle_room(const Loads& loads, std::uint32_t most);

} // namespace sched
