// Whether a program serves a port of a host, and whether the host is there at all: its kernel takes
// connections for a program even when nothing on the host runs any more, but only the program closes one.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace base {

enum class Knocked {
    unknown,   // nothing can be said: the name has no address, or this host has no way to any
    unreached, // nothing came back
    refused,   // the kernel is there, and nobody serves the port
    mute,      // the connection was taken, and nobody closed it
    answers    // the program lives
};

// Connects to the port, says nothing and ends its half: a program that lives reads that and closes its own.
// `host` is a name or an address. Blocks for looking the name up, and twice as long as `patience` at most.
Knocked knock(const std::string& host, std::uint16_t port, Duration patience);

// The addresses of a host, in figures, for knock(); none: the name has none. Blocks for looking it up.
std::vector<std::string> addresses_of(const std::string& host);

} // namespace base
