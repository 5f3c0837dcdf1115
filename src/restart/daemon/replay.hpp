// Does again what a restartd decided: gives the events that its journal holds to step(), from the state they
// began with, and compares what comes of each, and the state they end in, byte for byte. Reads only.
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

// A moment, or an event by its number in the journal: 1 is the oldest that is kept.
using ReplayPoint = std::variant<base::Time, std::uint64_t>;
// "17", or a time (base/time_text.hpp). Errors: Code::usage.
base::Expected<ReplayPoint> parse_replay_point(std::string_view text);

// Which events are compared: from the first of this number or at this time or later, until, from there on,
// the last before one that is past this number or time. None: from the oldest, to the newest.
struct ReplayRange {
    std::optional<ReplayPoint> from{}, until{};
};

struct Replayed {
    std::uint64_t first = 1;                // number of the first that was compared
    std::uint64_t events = 0, outcomes = 0; // that were compared; of these those that had one
    std::optional<base::Time> from, until;
    // The first difference, for people: the event, what the journal has and what came now. None: all is the
    // same.
    std::optional<std::string> difference;
    // Likewise among events before the first, which were only to lead to its state: what follows may differ
    // for that.
    std::optional<std::string> before;
};

// How far it is, now and then.
struct ReplayProgress {
    bool passing = false; // on its way to the first that is to be compared
    std::uint64_t event = 0;
    base::Time at{};
};

// A replay that begins later begins with the state of that event's segment, and gives to step() what is
// between. Errors: Code::input when the journal cannot be read, is a newer release's, its events are damaged,
// or it has none in this range; Code::unfit when it has no events at all.
base::Expected<Replayed> replay(const std::filesystem::path& journal,
                                const std::function<void(const ReplayProgress&)>& progress,
                                const ReplayRange& range = {});

} // namespace restart
