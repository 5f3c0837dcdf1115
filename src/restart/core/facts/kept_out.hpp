// By whose decision a host takes no jobs, as the resource manager records it. Judged here only, both for
// decisions (by what was read last) and for restart/rm, which checks again before it acts.
#pragma once

#include "restart/core/facts/rm.hpp"

namespace restart {

enum class Keeper {
    nobody, // it is in use, or the resource manager itself has set it down
    us,     // by the tag in the reason of its drain or down
    others  // an administrator, another program, or the resource manager's drain: not undone or overwritten
};

Keeper keeper_of(const RmNode& node);

// Ours, and drained: condition for acting on a host that only we keep out of use.
inline bool is_our_drain(const RmNode& node) {
    return node.drain && keeper_of(node) == Keeper::us;
}

} // namespace restart
