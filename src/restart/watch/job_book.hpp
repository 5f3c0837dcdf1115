// The jobs connected to this host's agent: their identity, last checkpoint, and restartd's requests to them.
// Filled by the job socket, read by the reporter; every call takes a lock, none blocks.
//
// An entry is a job at one of its starts, under the uid of the connected process: another user who claims
// the same job gets a separate entry, and restartd accepts only the owner's.
#pragma once

#include "base/expected.hpp"
#include "restart/wire/job_lines.hpp"
#include "restart/wire/report.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace restart {

struct JobKey {
    base::JobId id{};
    std::uint32_t epoch = 0;
    std::uint32_t uid = 0;
    auto operator<=>(const JobKey&) const = default;
};

class JobBook {
public:
    using Clock = std::chrono::steady_clock; // the age of a first step must not depend on clock steps

    static constexpr std::size_t most_entries = 1024; // the capacity of a report
    static constexpr std::size_t most_entries_a_uid = 128;
    // If this many answers of restartd do not mention the job of a first step, restartd does not have the
    // job.
    static constexpr int most_stepped_said = 60;
    static constexpr std::size_t idle_answers = 600;          // ten minutes at the usual interval
    static constexpr std::size_t most_path_bytes = 256 << 10; // of all checkpoints in a report
    static constexpr std::size_t most_run_bytes = 128 << 10;  // of all lists of hosts in a report
    static constexpr std::size_t most_preflights = 4;         // in a report; requeue requests first
    static constexpr std::size_t most_faults = 16;            // in a report

    // A client of the job has connected or left. A job stays active until restartd has answered
    // `idle_answers` reports after its last client left: a script that asks each minute gets requests made in
    // between. Errors: Code::unfit when the book, or the user's share of it, is full of jobs with clients.
    base::Expected<void> join(const JobKey& job);
    void leave(const JobKey& job);

    // The job has published a checkpoint; it replaces an earlier one. The job must have joined.
    void commit(const JobKey& job, Commit commit);

    // The job must save before then, as its own launcher requires: advice() reports it, along with restartd's
    // requests, until the next commit. The job must have joined.
    void save(const JobKey& job, base::Time by);

    // A process of the job has made steps. The job must have joined; only the first most_paced_ranks ranks
    // count. `now`: when it reported them.
    void mark(const JobKey& job, const JobMark& mark, Clock::time_point now = Clock::now());
    // A window of the host's pace has ended: the marks made in it are in the entries until the next window
    // ends. True: there were some.
    bool end_window();

    // What NCCL reports in processes of this user; kept only if a single job of the user has clients here, as
    // otherwise the job is unknown. None: nothing more is reported.
    void put_nccl(std::uint32_t uid, const std::optional<NcclWord>& word);
    // A fault in a process of this user; kept for the job with this number or, if it is unknown, as in
    // put_nccl. The first fault of a job is reported until an answer mentions the job.
    void put_fault(std::uint32_t uid, std::optional<std::uint32_t> job, const ProgramFault& fault);
    // Whether a job of this user has clients here.
    bool has_user(std::uint32_t uid) const;
    // Whether any job has clients here.
    bool has_clients() const;

    Advice advice(const JobKey& job) const;

    // What the job's railrun, identified by `holder`, runs now; none: it has ended. Only one holder at a time
    // reports for a job. The job must have joined. True: this is new. Errors: Code::unfit when another holder
    // reports for it.
    base::Expected<bool> run(const JobKey& job, std::uint64_t holder, std::optional<JobRun> run);
    std::uint64_t new_holder();
    RunAdvice run_advice(const JobKey& job) const;

    // The result of the job's preflight; it replaces an earlier one. The job must have joined. When the
    // requester has left, the result no longer requests a requeue, and is kept until restartd has it.
    void preflight(const JobKey& job, Preflight preflight);
    void end_preflight(const JobKey& job);
    PreflightAdvice preflight_advice(const JobKey& job) const;

    // A client that guards the job's processes here reports their state, which was `before`; Kept::no: none
    // any more. The job must have joined.
    void keep(const JobKey& job, Kept before, Kept now);
    KeepAdvice keep_advice(const JobKey& job) const;
    // Whether there are processes here that can be ended.
    bool keeps_any() const;
    // This host is cut off, for this reason, or no longer: reported to all clients that keep processes of
    // jobs.
    void set_cut_off(std::optional<std::string> why);

    // Whether railruns wait for restartd's decision, in the answer to a report. now: the step of one has
    // ended, its job is saving in order to be moved, or a preflight requests a requeue.
    enum class Awaited { nothing, later, now };
    Awaited awaited() const;

    // The content of a report: all active jobs, and checkpoints that restartd does not know yet; the latter
    // first when not all fit.
    std::vector<JobReport> entries(Clock::time_point now = Clock::now()) const;

    // restartd has accepted `sent` and answered. Its reply replaces all earlier ones; a checkpoint that was
    // added after `sent` was made remains to be reported.
    void delivered(const std::vector<JobReport>& sent, const Reply& reply);
    // restartd has not answered for a while: until the next answer no railrun counts as heard.
    void unanswered();

    std::size_t undelivered() const;

private:
    // What a process marked in this window or, if its steps are longer, in the last window with marks.
    struct Marked {
        double steps = 0, seconds = 0, waited_s = 0;
        RankPace last;
        int windows_without = 0;
    };
    struct Entry {
        std::size_t clients = 0;
        std::size_t idle = 0; // answers since the last client left
        std::optional<Commit> commit;
        bool reported = true; // restartd knows the commit
        Advice advice;
        std::optional<base::Time> own_save_by; // as required by its launcher
        std::optional<JobRun> run;
        std::uint64_t holder = 0;       // of `run`
        std::optional<JobRun> run_told; // known to restartd
        std::optional<RunOrder> order;
        bool suspected = false;
        std::size_t keepers = 0, ended = 0; // clients that keep processes, and clients that have ended theirs
        std::optional<std::string> end;     // why they must end
        std::optional<Preflight> preflight;
        PreflightAdvice preflight_advice;
        int preflight_said = 0; // like stepped_said
        std::optional<NcclWord> nccl;
        std::optional<ProgramFault> fault;
        bool faulted = false;                     // it had a fault
        int fault_said = 0;                       // like stepped_said
        std::map<std::uint32_t, Marked> marked;   // by rank
        std::vector<RankPace> ranks;              // of the last window
        std::optional<Clock::time_point> stepped; // the first step, until restartd knows it
        int stepped_said = 0;                     // answers that did not mention the job
        bool silent() const { return clients == 0 && reported; }
    };
    std::size_t jobs_of(std::uint32_t uid) const; // with clients here

    mutable std::mutex mutex_;
    std::map<JobKey, Entry> entries_;
    std::uint64_t holders_ = 0;
    std::optional<std::string> cut_off_;
    bool answered_ = true;
};

} // namespace restart
