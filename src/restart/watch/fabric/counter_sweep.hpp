// A sweep over the counters of many ports: which queries are in flight, which are repeated, and when a device
// is given up. CounterLine transports them (mad_counters.hpp; in tests a simulated fabric).
//
// At most `window` queries are in flight, spread over devices: the ports of one switch share one slow
// processor. Each query is sent up to `tries` times. A device that has never answered is given up after
// `patience` unanswered queries, so that a dead switch costs only these and not those of all its ports.
// Counters are read and never cleared: other programs read them, too.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/watch/fabric/port_counters.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace restart {

struct CounterTarget {
    topo::Guid node = 0;
    std::uint16_t lid = 0;
    std::uint8_t port = 0;
    std::uint8_t abilities = 0; // known from an earlier sweep; 0: queried first
};

class CounterLine {
public:
    enum class What : std::uint8_t { abilities, counters, extended };
    struct Question {
        std::uint32_t number = 0; // returned with the answer
        std::uint16_t lid = 0;
        std::uint8_t port = 0;
        What what = What::counters;
    };
    enum class Outcome : std::uint8_t {
        answered,
        silent, // nothing came within the time
        busy,   // the device cannot answer now
        refused // or does not support the query
    };
    struct Answer {
        std::uint32_t number = 0;
        Outcome outcome = Outcome::silent;
        PortReading part; // the requested part: abilities, or counters with `has` and `wide`
    };

    virtual ~CounterLine() = default;
    // Sends without waiting. Error (Code::io): the line is broken.
    virtual base::Expected<void> ask(const Question& question, base::Duration patience) = 0;
    // The next answer to any query; nullopt: none within this time. Error (Code::io): the line is broken.
    virtual base::Expected<std::optional<Answer>> next(base::Duration longest) = 0;
    virtual std::chrono::steady_clock::time_point now() = 0;
};

struct CounterSweepLimits {
    std::uint32_t window = 64; // 1 to 1024
    std::uint32_t tries = 3;
    base::Duration timeout{100};    // of one query
    base::Duration longest{20'000}; // of the sweep; later answers count as missing
    std::uint32_t patience = 2;     // queries
};

struct CounterSweep {
    std::vector<PortReading> readings; // in the targets' order, answered or not
    std::uint32_t asked_again = 0;     // queries
    bool whole = false;                // the time was sufficient
};

// Error (Code::io): the line broke before anything was read; if it breaks later, the rest is unanswered.
base::Expected<CounterSweep> sweep_counters(CounterLine& line, std::vector<CounterTarget> targets,
                                            const CounterSweepLimits& limits);

} // namespace restart
