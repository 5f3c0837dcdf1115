// Where nodewatchd's sockets are, by its configuration.
#pragma once

#include "base/conf.hpp"

#include <filesystem>

namespace base {

// Of its metrics: a name without a slash is beside the job socket. Empty: it has none.
inline std::filesystem::path metrics_socket(const AgentConf& agent) {
    const std::filesystem::path socket = agent.metrics_socket;
    if (socket.empty() || socket.has_parent_path()) return socket;
    return std::filesystem::path(agent.job_socket).parent_path() / socket;
}

} // namespace base
