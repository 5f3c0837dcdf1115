// Messages over a TCP connection between processes that measure together: four bytes of length, then JSON. No
// call waits beyond its deadline.
#pragma once

#include "base/expected.hpp"
#include "base/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace check::net {

using Moment = std::chrono::steady_clock::time_point;

class Link {
public:
    explicit Link(base::UniqueFd fd) : fd_(std::move(fd)) {}
    int fd() const { return fd_.get(); }

    // Errors: Code::unavailable.
    base::Expected<void> send(std::string_view text, Moment deadline);
    // The next message if it has arrived whole; otherwise nothing. Errors (Code::unavailable): the peer has
    // closed, or sent something that is not a message of at most `longest` bytes.
    base::Expected<std::optional<std::string>> take(std::size_t longest = 16u << 20);
    // Waits for the next message.
    base::Expected<std::string> receive(Moment deadline, std::size_t longest = 16u << 20);

private:
    base::UniqueFd fd_;
    std::string read_;
};

// A socket that listens on all addresses, on the first of these ports that is free; and which one that is.
// Port 0 lets the kernel choose.
struct Listener {
    base::UniqueFd fd;
    std::uint16_t port = 0;
};
base::Expected<Listener> listen_on(const std::vector<std::uint16_t>& ports);

// Connects to the host, trying each address until one accepts. Errors: Code::unavailable, Code::not_found for
// a name without an address.
base::Expected<Link> connect_to(const std::string& host, std::uint16_t port, Moment deadline);

} // namespace check::net
