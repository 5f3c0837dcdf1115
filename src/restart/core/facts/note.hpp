// A line of a timeline: what was seen, decided and done, and the outcome, with the time. step() returns them,
// the daemon stores them in its journal, railctl prints them.
#pragma once

#include "base/clock.hpp"
#include "base/job_id.hpp"
#include "restart/core/facts/rm.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restart {

enum class NoteKind {
    signal,   // what was seen
    decision, // what follows from it
    action,   // what was requested of the resource manager or the job, and whether it was done
    outcome   // the result
};
std::string_view to_string(NoteKind kind);

struct Note {
    base::Time time{};
    NoteKind kind = NoteKind::signal;
    std::string incident; // "i-7", or empty
    std::string host;     // or empty
    std::optional<base::JobId> job{};
    std::string text;                // a sentence without its subject's host and time
    std::optional<JobOwner> owner{}; // of the job; none: no job, or not known any more
    bool alert = false;              // an administrator should look; not kept
    bool operator==(const Note&) const = default;
};

} // namespace restart
