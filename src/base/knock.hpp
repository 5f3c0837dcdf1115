// Whether a program serves a port on a host, and whether the host is there at all. Its kernel accepts
// connections even if no program runs any more, but only a program closes one.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace base {

enum class Knocked {
    unknown,   // cannot be determined: the name has no address, or this host has no route to it
    unreached, // no answer at all
    refused,   // the kernel answers, and no program serves the port
    mute,      // the connection was accepted, but not closed
    answers    // the program is alive
};

// Connects to the port, sends nothing and shuts down its side: a live program reads the end and closes its
// own. `host` is a name or an address. Blocks for the name lookup, and at most twice `patience`.
Knocked knock(const std::string& host, std::uint16_t port, Duration patience);

// The numeric addresses of a host, for knock(); empty if the name has none. Blocks for the name lookup.
std::vector<std::string> addresses_of(const std::string& host);

} // namespace base
