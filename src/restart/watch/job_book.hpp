// The jobs connected to this host's agent: their identity, last checkpoint, and restartd's requests to them.
// Filled by the job socket, read by the reporter; every call locks, none waits.
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
    using Clock = std::chrono::steady_clock; // a first step is told by its age, whatever becomes of the time

    static constexpr std::size_t most_entries = 1024; // what a report carries
    static constexpr std::size_t most_entries_a_uid = 128;
    // A first step that restartd's answers say nothing of for so long is of a job that it does not have.
    static constexpr int most_stepped_said = 60;
    static constexpr std::size_t idle_answers = 600;          // ten minutes at the usual interval
    static constexpr std::size_t most_path_bytes = 256 << 10; // of all checkpoints in a report
    static constexpr std::size_t most_run_bytes = 128 << 10;  // of all lists of hosts in a report
    static constexpr std::size_t most_preflights = 4;         // in a report, those that wait first
    static constexpr std::size_t most_faults = 16;            // in a report

    // A client of the job has connected or left. A job stays active until restartd has answered
    // `idle_answers` reports after its last client left: a script that asks each minute gets requests made in
    // between. Errors: Code::unfit when the book, or the user's share of it, is full of jobs with clients.
    base::Expected<void> join(const JobKey& job);
    void leave(const JobKey& job);

    // The job has published a checkpoint; it replaces an earlier one. The job must have joined.
    void commit(const JobKey& job, Commit commit);

    // The job is to save before then, by its own launcher's word: advice() says so, beside what restartd
    // asks, until the next commit. The job must have joined.
    void save(const JobKey& job, base::Time by);

    // A process of the job has made steps. The job must have joined; of more than most_paced_ranks those that
    // come first count. `now`: when it said so.
    void mark(const JobKey& job, const JobMark& mark, Clock::time_point now = Clock::now());
    // A window of the host's pace has ended: what was marked in it goes into the entries until the next one
    // ends. True: something was.
    bool end_window();

    // What NCCL says in processes of this user, kept where one job alone of the user has clients here: of
    // which of several it speaks cannot be told. None: it says nothing more.
    void put_nccl(std::uint32_t uid, const std::optional<NcclWord>& word);
    // A fault in a process of this user's, kept for the job of this number or, where that is not known, as
    // put_nccl's word is. The first one of a job is told until an answer speaks of the job.
    void put_fault(std::uint32_t uid, std::optional<std::uint32_t> job, const ProgramFault& fault);
    // Whether a job of this user has clients here.
    bool has_user(std::uint32_t uid) const;
    // Whether any job has.
    bool has_clients() const;

    Advice advice(const JobKey& job) const;

    // What the job's railrun, known by `holder`, runs now; none: it is over. One at a time speaks for a job.
    // The job must have joined. True: that is new. Errors: Code::unfit when another holder speaks for it.
    base::Expected<bool> run(const JobKey& job, std::uint64_t holder, std::optional<JobRun> run);
    std::uint64_t new_holder();
    RunAdvice run_advice(const JobKey& job) const;

    // What came of the job's preflight; it replaces an earlier one. The job must have joined. Without an
    // asker, who has left, it asks for no requeue any more, and is kept until restartd has it.
    void preflight(const JobKey& job, Preflight preflight);
    void end_preflight(const JobKey& job);
    PreflightAdvice preflight_advice(const JobKey& job) const;

    // A client that watches over the job's processes here says how they are, in place of what it said
    // `before`; Kept::no: it does so no longer. The job must have joined.
    void keep(const JobKey& job, Kept before, Kept now);
    KeepAdvice keep_advice(const JobKey& job) const;
    // Whether processes that can be ended are here.
    bool keeps_any() const;
    // This host is cut off, in a phrase, or not any more: told to all that keep processes of jobs.
    void set_cut_off(std::optional<std::string> why);

    // Whether railruns wait for restartd's word, which comes with the answer to a report. now: the step of
    // one has ended, its job is saving so as to be moved, or a preflight asks for a requeue.
    enum class Awaited { nothing, later, now };
    Awaited awaited() const;

    // The content of a report: all active jobs, and checkpoints that restartd does not know yet; those first
    // when not all fit.
    std::vector<JobReport> entries(Clock::time_point now = Clock::now()) const;

    // restartd has accepted `sent` and answered. Its reply replaces all earlier ones; a checkpoint that was
    // added after `sent` was made remains to be reported.
    void delivered(const std::vector<JobReport>& sent, const Reply& reply);
    // restartd has not answered for a while: until the next answer no railrun is heard by it.
    void unanswered();

    std::size_t undelivered() const;

private:
    // What a process marked in this window and, where its steps are longer than that, in the last one with
    // any.
    struct Marked {
        double steps = 0, seconds = 0, waited_s = 0;
        RankPace last;
        int windows_without = 0;
    };
    struct Entry {
        std::size_t clients = 0;
        std::size_t idle = 0; // answers since the last client went
        std::optional<Commit> commit;
        bool reported = true; // restartd knows the commit
        Advice advice;
        std::optional<base::Time> own_save_by; // as its launcher said
        std::optional<JobRun> run;
        std::uint64_t holder = 0;       // of `run`
        std::optional<JobRun> run_told; // that restartd knows
        std::optional<RunOrder> order;
        bool suspected = false;
        std::size_t keepers = 0, ended = 0; // clients that keep processes, and those that have ended theirs
        std::optional<std::string> end;     // why they are to be
        std::optional<Preflight> preflight;
        PreflightAdvice preflight_advice;
        int preflight_said = 0; // as stepped_said
        std::optional<NcclWord> nccl;
        std::optional<ProgramFault> fault;
        bool faulted = false;                     // it had one
        int fault_said = 0;                       // as stepped_said
        std::map<std::uint32_t, Marked> marked;   // by rank
        std::vector<RankPace> ranks;              // of the last window
        std::optional<Clock::time_point> stepped; // the first step of a process that restartd does not know
        int stepped_said = 0;                     // in answers that did not speak of the job
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
