// The result of one pair of hosts over one rail, and how long to measure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace check::net {

struct Measured {
    // Half of the shortest round trip of 8 bytes: a busy host slows most round trips, a bad cable all of
    // them.
    double latency_us = 0;
    double gbps = 0;      // from the first host to the second, payload
    double gbps_back = 0; // from the second to the first
};

struct Effort {
    double seconds = 0.05; // for each of the three measures
    double patience_s = 5; // for all three; a measurement that takes longer has failed
};

} // namespace check::net
