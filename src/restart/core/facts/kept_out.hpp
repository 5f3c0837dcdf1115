// By whose decision a host takes no jobs, as the resource manager has it: the one place where that is judged,
// for decisions by what was read last and for restart/rm, which looks again before it acts.
#pragma once

#include "restart/core/facts/rm.hpp"

namespace restart {

enum class Keeper {
    nobody, // it is in use, or the resource manager alone has set it down
    us,     // by the tag in the reason of its drain or down
    others  // a person, another program, or the resource manager's drain: neither undone nor overwritten
};

Keeper keeper_of(const RmNode& node);

// Ours, and drained: what may be done to a host that only we keep out of use.
inline bool is_our_drain(const RmNode& node) {
    return node.drain && keeper_of(node) == Keeper::us;
}

} // namespace restart
