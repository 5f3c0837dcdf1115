// A gang on shared hosts if hosts are also kept free for restarts: how large it can be, and which idle hosts
// it may take if examining all choices is too expensive.
#pragma once

#include "sched/search/loads.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// For pods [first, first + size): all their candidates that other jobs use, and as many idle ones as
// Loads::idle_limit() permits: required ones, those of segments that include other required hosts, then those
// that complete a segment with the fewest others. By host, for Loads. nullopt: more idle hosts are required
// than may be taken, or the rest holds too few segments or hosts.
std::optional<std::vector<std::uint8_t>> with_few_idle(const Loads& loads, std::uint32_t first,
                                                       std::uint32_t size);

// What fits within the span with at most Loads::idle_limit() idle hosts, for gangs of up to `most` nodes.
struct IdleRoom {
    std::uint32_t most = 0; // no gang has more; 0: none fits
    std::uint32_t sure = 0; // a gang of this size fits; 0: only a search can tell
};

// The two are the same except with both required hosts and spares, and for is_nested(). Costs some
// microseconds for a thousand hosts. Does not use Loads::need().
IdleRoom idle_room(const Loads& loads, std::uint32_t most);

} // namespace sched
