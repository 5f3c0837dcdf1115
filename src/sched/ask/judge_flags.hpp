// What becomes of a job's flags when it is submitted, in the same sentences under each resource manager:
// refused, or accepted as they count for this job. Pure.
#pragma once

#include "base/expected.hpp"
#include "sched/ask/capacity.hpp"
#include "sched/ask/hints.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sched {

// The resource manager's own words in these sentences.
struct SubmissionWords {
    std::string_view nodes = "--nodes";             // what asks for more hosts
    std::string_view no_requeue = "--no-requeue";   // what forbids to start the job again
    std::string_view batch = "batch jobs (sbatch)"; // what can be started again at all
};

struct FlaggedJob {
    std::uint32_t nodes = 1;          // the least it asks for,
    std::uint32_t most = 0;           // and the most; 0: exactly `nodes`
    bool batch = true;                // a script, and nobody's terminal
    std::optional<bool> requeue;      // what the user says of it besides --restart
    std::optional<Capacity> capacity; // nothing: no fabric is known, and nothing is too large
    SubmissionWords words;
};

struct JudgedFlags {
    Hints hints;
    bool set_requeue = false; // the job must become requeuable
    std::string note;         // for the user; empty: none
};

// Errors (Code::usage for what contradicts itself; Code::unfit for what this fabric can never hold) are for
// the user.
base::Expected<JudgedFlags> judge_flags(Hints hints, const FlaggedJob& job);

} // namespace sched
