// What restartd keeps of the paces of hosts, and its judgements of them, as part of its state. A finding
// about a job's pace is shown and noted; it drains and moves nothing and has no weight.
#pragma once

#include "base/clock.hpp"
#include "base/job_id.hpp"
#include "restart/core/straggle/judge.hpp"
#include "restart/wire/pace.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace restart {

// What processes of one start of a job on one host report: step marks, and NCCL's RAS about them.
struct JobMarks {
    base::JobId id{};
    std::uint32_t epoch = 0;
    std::vector<RankPace> ranks;
    std::vector<RasSign> ras{};
    bool operator==(const JobMarks&) const = default;
};

// A host's window, with the marks of those jobs whose owner made them.
struct StoredPace {
    base::Time came{}; // by restartd's clock
    HostPace pace;
    std::vector<JobMarks> marks;
    bool operator==(const StoredPace&) const = default;
};

// The results of the last judgements of a running job.
struct JobPace {
    base::Time judged{};
    StragglerVerdict verdict = StragglerVerdict::unknown;
    Straggler suspect; // if one is found
    std::vector<std::string> missing;
    bool held_back = false; // reported as slowed down by `suspect`, since then
    base::Time since{};
    std::uint32_t cleared = 0;       // judgements in a row since then that did not find it again
    std::vector<std::string> gpus{}; // what its GPUs do
    bool operator==(const JobPace&) const = default;
};

} // namespace restart
