// Who listens at a TCP port of this host, by the kernel's own word (sock_diag(7)). It goes through listening
// sockets alone: /proc/net/tcp would also walk the table of connections, which takes milliseconds on a host
// with much memory.
#pragma once

#include <cstdint>
#include <optional>

namespace probe {

// The user whose processes listen at the port, at any address of IPv4 or IPv6: one user, as Linux lets no
// other share a port. None: nobody does, or the kernel does not tell.
std::optional<std::uint32_t> tcp_listener(std::uint16_t port);

} // namespace probe
