// What jobs' processes on this host say of their UCX endpoints (librailucx.so, wire/job_lines.hpp): the last
// word of each, and per job sums that only grow while some process of it is there. Filled by the job socket,
// read by the watcher; every call locks, none waits.
//
// The kernel names the speaker's user, nobody its job: a user may claim any. What several users claim is kept
// apart, and no rule makes of a job's words more than information.
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

    // A process says this now; it is known by the answer from then on, and by 0 before. Errors: Code::unfit
    // when the book, or the user's share of it, is full.
    base::Expected<std::uint64_t> tell(std::uint64_t speaker, std::uint32_t uid, JobUcx said);
    void leave(std::uint64_t speaker);

    // Statistics of the job are waited for, until it is left as often. Errors: as tell.
    base::Expected<void> join(const JobKey& job);
    void leave(const JobKey& job);
    // By these its processes sent more bytes over TCP, and dropped more packets; in words the last.
    void count(const JobKey& job, std::uint64_t tcp_bytes, const std::string& tcp, std::uint64_t packets,
               const std::string& dropped);

    // All jobs with a process that speaks. A job's sums are 0 the first time, so that what came before counts
    // as growth.
    std::vector<UcxJob> jobs();

private:
    struct Speaker {
        JobKey job;
        JobUcx said;
    };
    struct Job {
        std::size_t speakers = 0;
        bool shown = false;
        bool counted = false, statistics_shown = false; // there are statistics
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
