// Makes the resource manager show in the records of waiting jobs why they wait, until they start: for jobs
// with a placement flag and for those that do not fit in a single unit; under LSF for the first hundred
// gangs.
//
// Bounded: a pass every 5 s, in a pass at most 16 changes and 200 explanations, a job at most once a minute
// and only when its sentence changed. Nothing is remembered that a restart could lose: what was written is in
// the records. Nothing is written while restartd only observes; once explain_pending is off and every record
// is restored, the queue is no longer read.
#pragma once

#include "restart/core/facts/rm_queue.hpp"
#include "restart/daemon/driver.hpp"
#include "sched/placing.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace restart {

// Decides what to write; pure except for what it remembers of its own writing.
class WhyPlan {
public:
    struct Change {
        base::JobId job{};
        std::string text; // "" removes it
        bool operator==(const Change&) const = default;
    };

    // The changes due at queue.read. With `explain` false, existing comments of ours are removed. A comment
    // contains what the job's owner may see, by what the resource manager hides.
    std::vector<Change> due(const RmQueue& queue, const sched::Placing& placing, bool explain,
                            const std::optional<RmPrivacy>& hides);

private:
    std::map<base::JobId, base::Time> written_; // of waiting jobs
    std::optional<base::JobId> next_;           // the job after which the next pass continues
};

// The thread that does it.
class WhyWriter {
public:
    explicit WhyWriter(Driver& driver);

private:
    void run(const std::stop_token& stop);
    void pass();

    Driver& driver_;
    WhyPlan plan_;
    std::string failed_; // the first failure of the last pass, logged when it changes
    bool clean_ = false; // explain_pending is off, and nothing of ours was left in a record
    std::jthread thread_;
};

} // namespace restart
