// Who listens on a TCP port of this host, as reported by the kernel (sock_diag(7)). Only listening sockets
// are searched: /proc/net/tcp also walks the connection table, which takes milliseconds on a host with much
// memory.
#pragma once

#include <cstdint>
#include <optional>

namespace probe {

// The user whose processes listen on the port, on any IPv4 or IPv6 address: one user, as Linux lets no others
// share it. None: no process listens, or it is not reported.
std::optional<std::uint32_t> tcp_listener(std::uint16_t port);

} // namespace probe
