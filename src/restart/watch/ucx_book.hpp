// What jobs' processes on this host report about their UCX endpoints (librailucx.so, wire/job_lines.hpp): the
// last report of each, and per-job sums that only grow while a process of the job is there. Filled by the job
// socket, read by the watcher; every call takes a lock, none blocks.
//
// The kernel identifies the sender's user, but not its job: a user may claim any. Claims of different users
// are kept apart, and no rule treats a job's reports as more than information.
#pragma once

#include "base/expected.hpp"
#include "restart/watch/job_book.hpp"
#include "restart/watch/sample.hpp"
#include "restart/wire/job_lines.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace restart {

class UcxBook {
public:
    static constexpr std::size_t most_speakers = 2048;
    static constexpr std::size_t most_speakers_a_uid = 512; // processes of a job, on the widest hosts
    static constexpr std::size_t most_jobs = 64;
    static constexpr std::size_t most_jobs_a_uid = 16;

    // Takes a process's report. `speaker`: 0 for the first report, then the returned number. Errors:
    // Code::unfit when the book, or the user's share of it, is full.
    base::Expected<std::uint64_t> tell(std::uint64_t speaker, std::uint32_t uid, JobUcx said);
    void leave(std::uint64_t speaker);

    // Accepts the job's statistics, until leave() has been called as often. Errors as for tell().
    base::Expected<void> join(const JobKey& job);
    void leave(const JobKey& job);
    // Adds bytes sent over TCP and dropped packets, from statistics; with a description of the last ones.
    void count(const JobKey& job, std::uint64_t tcp_bytes, const std::string& tcp, std::uint64_t packets,
               const std::string& dropped);

    // All jobs with a reporting process. A job's sums are 0 the first time, so that earlier events count as
    // growth.
    std::vector<UcxJob> jobs();

private:
    struct Speaker {
        JobKey job;
        JobUcx said;
    };
    struct Job {
        std::size_t speakers = 0;
        bool shown = false;
        bool counted = false, statistics_shown = false; // statistics exist
        UcxCount failed, timeouts, refused, resent, tcp_bytes, dropped;
    };
    base::Expected<void> check(const JobKey& job, bool known_speaker) const;
    void leave_locked(std::uint64_t speaker);

    std::mutex mutex_;
    std::map<std::uint64_t, Speaker> speakers_;
    std::map<JobKey, Job> jobs_;
    std::uint64_t last_ = 0;
};

} // namespace restart
