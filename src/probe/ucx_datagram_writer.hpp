// The datagrams in which UCX would send statistics: for tests of their reader (ucx_statistics.hpp).
#pragma once

#include "probe/ucx_statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace probe {

// A message as written by serialization.c of UCX 1.13.1: each device is an interface of one endpoint.
std::vector<std::byte> ucx_message(const UcxStatistics& said);

// Splits it into fragments as client_server.c sends them. `time` must increase from one message to the next.
std::vector<std::vector<std::byte>> ucx_datagrams(std::span<const std::byte> message, std::uint64_t time);

} // namespace probe
