// What one pair of hosts measured over one rail, and how much it is to measure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace check::net {

struct Measured {
    // Half of the shortest time there and back of 8 bytes: a host that is busy makes most of them slow, a
    // cable all.
    double latency_us = 0;
    double gbps = 0;      // from the first host to the second, payload
    double gbps_back = 0; // from the second to the first
};

struct Effort {
    double seconds = 0.05; // for each of the three measures
    double patience_s = 5; // for the three together; what takes longer has failed
};

} // namespace check::net
