// Replays a restartd's decisions: passes the events in its journal to step(), from the state they began with,
// and compares the result of each, and the final state, byte for byte. Reads only.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace restart {

// A time, or an event by its number in the journal: 1 is the oldest that is kept.
using ReplayPoint = std::variant<base::Time, std::uint64_t>;
// "17", or a time (base/time_text.hpp). Errors: Code::usage.
base::Expected<ReplayPoint> parse_replay_point(std::string_view text);

// Which events are compared: from the first one with this number or at this time or later, until, from there
// on, the last before one that is past this number or time. None: from the oldest, to the newest.
struct ReplayRange {
    std::optional<ReplayPoint> from{}, until{};
};

struct Replayed {
    std::uint64_t first = 1;                // number of the first one compared
    std::uint64_t events = 0, outcomes = 0; // compared events; those of them that had an outcome
    std::optional<base::Time> from, until;
    // The first difference, for display: the event, what the journal has and what came now. None: no
    // difference.
    std::optional<std::string> difference;
    // The same among events before the first, which only lead to its state: later differences may be due to
    // it.
    std::optional<std::string> before;
};

// Progress, from time to time.
struct ReplayProgress {
    bool passing = false; // on the way to the first compared event
    std::uint64_t event = 0;
    base::Time at{};
};

// A replay that begins later starts with the state of that event's segment, and passes what is between to
// step(). Errors: Code::input when the journal cannot be read, is a newer release's, its events are damaged,
// or it has none in this range; Code::unfit when it has no events at all.
base::Expected<Replayed> replay(const std::filesystem::path& journal,
                                const std::function<void(const ReplayProgress&)>& progress,
                                const ReplayRange& range = {});

} // namespace restart
