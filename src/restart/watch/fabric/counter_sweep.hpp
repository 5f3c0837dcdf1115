// A sweep over the counters of many ports: which questions are on their way, which are asked again, and when
// a device is given up. What carries them is CounterLine (mad_counters.hpp; in tests a made-up fabric).
//
// At most `window` questions are on their way at a time, spread over devices: those of one switch are
// answered by one slow processor. Each is asked `tries` times. A device of which nothing was ever answered is
// given up after `patience` unanswered questions, so that a dead switch costs its few and not those of all
// its ports. Counters are read and never cleared: others read them, too.
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
    std::uint8_t abilities = 0; // as known from an earlier sweep; 0: asked first
};

class CounterLine {
public:
    enum class What : std::uint8_t { abilities, counters, extended };
    struct Question {
        std::uint32_t number = 0; // comes back with the answer
        std::uint16_t lid = 0;
        std::uint8_t port = 0;
        What what = What::counters;
    };
    enum class Outcome : std::uint8_t {
        answered,
        silent, // nothing came within the time
        busy,   // it says that it cannot answer now
        refused // or not at all
    };
    struct Answer {
        std::uint32_t number = 0;
        Outcome outcome = Outcome::silent;
        PortReading part; // of what was asked: abilities, or counters with `has` and `wide`
    };

    virtual ~CounterLine() = default;
    // Sends and does not wait. Error (Code::io): the line is broken.
    virtual base::Expected<void> ask(const Question& question, base::Duration patience) = 0;
    // The next answer to any question; nullopt: none came in this time. Error (Code::io) likewise.
    virtual base::Expected<std::optional<Answer>> next(base::Duration longest) = 0;
    virtual std::chrono::steady_clock::time_point now() = 0;
};

struct CounterSweepLimits {
    std::uint32_t window = 64; // 1 to 1024
    std::uint32_t tries = 3;
    base::Duration timeout{100};    // of one question
    base::Duration longest{20'000}; // of all; what was not answered by then is unanswered
    std::uint32_t patience = 2;     // questions
};

struct CounterSweep {
    std::vector<PortReading> readings; // in the targets' order, answered or not
    std::uint32_t asked_again = 0;     // questions
    bool whole = false;                // it did not run out of time
};

// Error (Code::io): the line broke before anything was read; later the rest is unanswered.
base::Expected<CounterSweep> sweep_counters(CounterLine& line, std::vector<CounterTarget> targets,
                                            const CounterSweepLimits& limits);

} // namespace restart
