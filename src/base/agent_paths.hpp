// The paths of nodewatchd's sockets, from its configuration.
#pragma once

#include "base/conf.hpp"

#include <filesystem>

namespace base {

// The metrics socket. A name without a slash is in the job socket's directory. Empty: there is none.
inline std::filesystem::path metrics_socket(const AgentConf& agent) {
    const std::filesystem::path socket = agent.metrics_socket;
    if (socket.empty() || socket.has_parent_path()) return socket;
    return std::filesystem::path(agent.job_socket).parent_path() / socket;
}

} // namespace base
