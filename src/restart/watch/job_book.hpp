// The jobs that talk to this host's agent: who they are, their last checkpoint, and what restartd wants from
// them. Filled by the job socket, read by the reporter; every call locks, none waits.
//
// An entry is a job at one of its starts, under the uid of the process that spoke: another user who claims
// the same job gets an entry of their own, and restartd believes only the owner's.
#pragma once

#include "base/expected.hpp"
#include "restart/wire/job_lines.hpp"
#include "restart/wire/report.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace restart {

struct JobKey {
    std::uint32_t id = 0;
    std::uint32_t epoch = 0;
    std::uint32_t uid = 0;
    auto operator<=>(const JobKey&) const = default;
};

class JobBook {
public:
    static constexpr std::size_t most_entries = 1024; // what a report carries
    static constexpr std::size_t most_entries_a_uid = 128;
    static constexpr std::size_t idle_answers = 600; // ten minutes at the usual interval
    static constexpr std::size_t most_path_bytes = 256 << 10; // of all checkpoints in a report

    // A client of the job has come or gone. A job is spoken for until restartd has answered `idle_answers`
    // reports after its last client went: a script that asks anew each minute is told what came between.
    // Errors: Code::unfit when the book, or the user's share of it, is full of jobs with clients.
    base::Expected<void> join(const JobKey& job);
    void leave(const JobKey& job);

    // The job has published a checkpoint; it replaces an earlier one. The job must have joined.
    void commit(const JobKey& job, Commit commit);

    Advice advice(const JobKey& job) const;

    // What a report says now: all jobs that are spoken for, and checkpoints that restartd has not heard of;
    // those first when not all fit.
    std::vector<JobReport> entries() const;

    // restartd has taken `sent` and answered. Its advice replaces all that was known; a checkpoint that came
    // after `sent` was made stays to be told.
    void delivered(const std::vector<JobReport>& sent, const Reply& reply);

    std::size_t undelivered() const;

private:
    struct Entry {
        std::size_t clients = 0;
        std::size_t idle = 0; // answers since the last client went
        std::optional<Commit> commit;
        bool told = true; // restartd knows the commit
        Advice advice;
        bool silent() const { return clients == 0 && told; }
    };
    mutable std::mutex mutex_;
    std::map<JobKey, Entry> entries_;
};

} // namespace restart
