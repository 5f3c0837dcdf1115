#include "restart/core/facts/kept_out.hpp"

#include "restart/core/facts/action.hpp"

namespace restart {

Keeper keeper_of(const RmNode& node) {
    if (!node.drain && !node.down) return Keeper::nobody;
    if (!owner_of(node.reason).empty()) return Keeper::us;
    return node.drain || !node.automatic ? Keeper::others : Keeper::nobody;
}

} // namespace restart
