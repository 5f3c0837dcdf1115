// Where each node's slurmd accepts connections, as slurmctld last reported, and whether it is alive.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/rm/slurm_calls.hpp"

#include <cstdint>
#include <ctime>
#include <map>
#include <mutex>
#include <string>

namespace restart {

// For any thread.
class SlurmDoors {
public:
    // Keeps the addresses of these nodes and drops all others.
    void keep(const node_info_msg_t& nodes);

    // ResourceManager::ask_host. slurmd logs a connection on which nothing was sent.
    Life ask(const std::string& node, base::Duration patience);

private:
    struct Door {
        std::string host;
        std::uint16_t port = 0;
    };
    std::mutex mutex_;
    std::map<std::string, Door> doors_; // by node
    std::time_t told_ = 0;
};

} // namespace restart
