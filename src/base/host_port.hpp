// Where a server listens: a host and a port, and the two forms in which they are written.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace base {

struct HostPort {
    std::string host; // a name, an IPv4 or an IPv6 address without brackets
    std::uint16_t port = 0;
    std::string print() const; // "host:port", "[::1]:8917"
    bool is_loopback() const;  // judged by the text: names are not resolved
    bool operator==(const HostPort&) const = default;
};

// "host:port" or "[v6]:port"; port 0 asks the kernel for a free one. Errors: Code::input.
Expected<HostPort> parse_listen(std::string_view text);

// "http://host:port", with or without a trailing slash. Errors: Code::input, listing what is allowed.
Expected<HostPort> parse_url(std::string_view url);

} // namespace base
