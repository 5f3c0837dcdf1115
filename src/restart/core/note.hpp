// A line of a timeline: what was seen, decided, done and came of it, with the time. step() returns them, the
// daemon keeps them in its journal, explain.hpp tells them.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace restart {

enum class NoteKind {
    signal,   // what was seen
    decision, // what follows from it
    action,   // what was asked of the resource manager or the job, and whether it was done
    outcome   // what came of it
};
std::string_view to_string(NoteKind kind);

struct Note {
    base::Time time{};
    NoteKind kind = NoteKind::signal;
    std::string incident;  // "i-7", or empty
    std::string host;      // or empty
    std::uint32_t job = 0; // or 0
    std::string text;      // a sentence without its subject's host and time
    bool operator==(const Note&) const = default;
};

} // namespace restart
