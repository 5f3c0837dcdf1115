#include "restart/rm/slurm_doors.hpp"

#include "base/knock.hpp"

#include <utility>

namespace restart {

void SlurmDoors::keep(const node_info_msg_t& nodes) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(told_, nodes.last_update) == nodes.last_update) return;
    doors_.clear();
    for (std::uint32_t i = 0; i < nodes.record_count; ++i) {
        const auto& node = nodes.node_array[i];
        if (node.name == nullptr || node.port == 0) continue;
        doors_[node.name] = {node.node_addr != nullptr ? node.node_addr : node.name, node.port};
    }
}

Life SlurmDoors::ask(const std::string& node, base::Duration patience) {
    Door door;
    {
        const std::lock_guard lock(mutex_);
        const auto found = doors_.find(node);
        if (found == doors_.end()) return Life::unknown;
        door = found->second;
    }
    switch (base::knock(door.host, door.port, patience)) {
    case base::Knocked::answers: return Life::answers;
    case base::Knocked::mute: return Life::mute;
    default: return Life::unknown; // not reached: maybe the network; refused: maybe only slurmd
    }
}

} // namespace restart
