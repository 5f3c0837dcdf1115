// What happens to a job's flags at submission, in the same sentences for each resource manager: they are
// rejected, or accepted as they apply to this job. Pure.
#pragma once

#include "base/expected.hpp"
#include "sched/ask/capacity.hpp"
#include "sched/ask/hints.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sched {

// The resource manager's own terms in these sentences.
struct SubmissionWords {
    std::string_view nodes = "--nodes";             // the option for more hosts
    std::string_view no_requeue = "--no-requeue";   // the option that forbids restarting the job
    std::string_view batch = "batch jobs (sbatch)"; // which jobs can be restarted at all
};

struct FlaggedJob {
    std::uint32_t nodes = 1;          // the minimum that it requests,
    std::uint32_t most = 0;           // and the maximum; 0: exactly `nodes`
    bool batch = true;                // a script, not interactive
    std::optional<bool> requeue;      // what the user requests besides --restart
    std::optional<Capacity> capacity; // nothing: no fabric is known, and nothing is too large
    SubmissionWords words;
};

struct JudgedFlags {
    Hints hints;
    bool set_requeue = false; // the job must become requeuable
    std::string note;         // for the user; empty: none
};

// Errors (Code::usage for contradictions; Code::unfit for what this fabric can never hold) are for the user.
base::Expected<JudgedFlags> judge_flags(Hints hints, const FlaggedJob& job);

} // namespace sched
