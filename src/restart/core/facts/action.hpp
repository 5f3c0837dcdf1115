// What the daemon does to the resource manager. An action is an intent first: it is written to the journal
// with the state, then performed, then its outcome is passed to step() as ActionDone.
//
// Each is idempotent: restart/rm checks before it acts (the reason's tag for hosts, the epoch for jobs), so
// that an action repeated after a crash has no further effect.
#pragma once

#include "base/job_id.hpp"
#include "restart/core/facts/ladder.hpp"
#include "restart/core/facts/rm.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace restart {

// The job that an action is about, and the culprit.
struct JobTarget {
    base::JobId id{};
    std::string name;        // as its user knows it (RmJob)
    std::uint32_t epoch = 0; // the start that it is about; a job that has begun a later one is left alone
    std::string host;        // the culprit
    std::optional<JobOwner> owner{};
    bool operator==(const JobTarget&) const = default;
};

inline JobTarget target(base::JobId id, std::string name, std::uint32_t epoch, std::string host) {
    JobTarget job;
    job.id = id;
    job.name = std::move(name);
    job.epoch = epoch;
    job.host = std::move(host);
    return job;
}

// It takes no new jobs; running ones go on.
struct DrainHost {
    std::string host;
    std::string reason; // starts with the owner's tag
    bool renew = false; // we have drained it already: only the reason changes
    bool operator==(const DrainHost&) const = default;
};

// The host is dead: its jobs end now.
struct DownHost {
    std::string host;
    std::string reason;           // starts with the owner's tag; empty: keeps the present one
    bool drain = false;           // it does not come back on its own
    std::uint32_t generation = 0; // of the host's agent (HostState) when this was decided
    bool operator==(const DownHost&) const = default;
};

// Undoes our drain.
struct ResumeHost {
    std::string host;
    bool operator==(const ResumeHost&) const = default;
};

// Back to pending: may begin at once, never on `exclude`; held there if `hold`.
struct RequeueJob {
    JobTarget job;
    std::vector<std::string> exclude; // added to what the user excluded
    bool hold = false;
    // It has ended (RmFailure): it is restarted from its end only when this is set, and after a reported
    // success only when this says so.
    bool ended = false;
    std::string comment{}; // its new comment; empty: the comment stays
    // The hosts of the start that it is about, including those it excludes. Placement keeps them where no
    // others are better (sched::Request::had); empty: not known.
    std::vector<std::string> had{};
    bool operator==(const RequeueJob&) const = default;
};

// A pending job: may begin at once, never on `exclude`.
struct UpdateJob {
    JobTarget job;
    std::vector<std::string> exclude;
    std::string comment{};
    bool release = false;           // lift the resource manager's hold (RmJob::unlaunched)
    std::vector<std::string> had{}; // as in RequeueJob
    bool operator==(const UpdateJob&) const = default;
};

// A pending job: never on `exclude`, on `readmit` again; nothing else of it changes.
struct KeepOff {
    JobTarget job;
    std::vector<std::string> exclude;
    std::vector<std::string> readmit; // hosts that we excluded earlier
    bool operator==(const KeepOff&) const = default;
};

// Notifies its user of what is done with it.
struct NotifyJob {
    JobTarget job;
    std::string text;
    bool operator==(const NotifyJob&) const = default;
};

// One rung of a host's repair, or its check. The resource manager performs a reboot, programs of the site the
// others.
struct RepairHost {
    std::string host;
    Rung rung = Rung::reboot;
    std::string reason;            // starts with the owner's tag
    std::string boot_id;           // of the host, when this was decided
    std::vector<std::string> gpus; // numbers of those to be reset; empty: all
    // For a check: what was repaired, and what helped.
    FaultClass fault = FaultClass::other;
    Rung after = Rung::nothing;
    bool operator==(const RepairHost&) const = default;
};

// A drained host that jobs still hold but no longer use. It is set down, which removes it from jobs that
// survive that (RmJob::no_kill). Done only while these are all the jobs on it; the reason of the drain stays.
struct FreeHost {
    std::string host;
    std::vector<base::JobId> jobs{}; // in their present start
    bool operator==(const FreeHost&) const = default;
};

// A waiting gang: it starts on these hosts and on no others (gang_plan.hpp).
struct PlaceJob {
    JobTarget job;
    std::vector<std::string> hosts; // in rank order
    bool operator==(const PlaceJob&) const = default;
};

// Moves a gang back to the queue from which it cannot start: a running one, so that it waits there when it is
// requeued, or one that did not start.
struct ParkJob {
    JobTarget job;
    std::string queue;
    bool operator==(const ParkJob&) const = default;
};

// Runs railcheck on an idle host, in a job of our own that delays no other job (idle_check.hpp).
struct CheckHost {
    std::string host;
    std::uint64_t level = 2;                   // of railcheck(8), 1 to 3
    std::string partition{}, account{}, qos{}; // of the job; empty: the resource manager's defaults
    bool operator==(const CheckHost&) const = default;
};

// That job ends now. Its host is the one that it checks.
struct EndCheck {
    JobTarget job;
    bool operator==(const EndCheck&) const = default;
};

// A job that has ended and of which the resource manager no longer has a record (RmJob::forgotten): its
// script is submitted again as its user, never on `exclude`, as a job that names the start it replaces
// (RmJob::again). With `hold` it waits until its user releases it.
struct SubmitAgain {
    JobTarget job;
    std::vector<std::string> exclude;
    bool hold = false;
    std::string comment{}; // its new comment
    bool operator==(const SubmitAgain&) const = default;
};

struct Action {
    // "i-7/2": incident and number, "p-12[3]/4": job and number of its plan, "c-n003/4": host and number of
    // its idle check; stable over retries and restarts
    std::string id;
    std::variant<DrainHost, DownHost, ResumeHost, RequeueJob, UpdateJob, KeepOff, NotifyJob, RepairHost,
                 FreeHost, PlaceJob, ParkJob, CheckHost, EndCheck, SubmitAgain>
        what;
    bool operator==(const Action&) const = default;
};

// In the order of the alternatives.
enum class ActionKind {
    drain_host,
    down_host,
    resume_host,
    requeue_job,
    update_job,
    keep_off,
    notify_job,
    repair_host,
    free_host,
    place_job,
    park_job,
    check_host,
    end_check,
    submit_again
};
inline ActionKind kind_of(const Action& action) {
    return static_cast<ActionKind>(action.what.index());
}
std::string_view to_string(ActionKind kind);

// The action as one of the kinds; null if it is of another kind.
template <class Kind> const Kind* as(const Action& action) {
    return std::get_if<Kind>(&action.what);
}

// The job that the action is about; null if it is about a host.
const JobTarget* target_of(const Action& action);
// Its host: the one that it is about, or the job's culprit.
const std::string& host_of(const Action& action);

// The job of a job action; of any other action an id that names no job, so that no lookup finds it.
inline base::JobId job_of(const Action& action) {
    const auto* job = target_of(action);
    return job == nullptr ? base::JobId() : job->id;
}
// The same; none if it is about a host.
inline std::optional<base::JobId> job_if(const Action& action) {
    const auto* job = target_of(action);
    return job == nullptr ? std::optional<base::JobId>() : job->id;
}
inline bool about_host(const Action& action) {
    return target_of(action) == nullptr;
}
// Keeps a host out of use.
inline bool drains(const Action& action) {
    const auto* down = as<DownHost>(action);
    const auto* drain = as<DrainHost>(action);
    return (drain != nullptr && !drain->renew) || (down != nullptr && down->drain);
}
// Is performed by a program of the site, not by the resource manager.
inline bool by_program(Rung rung) {
    return rung == Rung::gpu_reset || rung == Rung::power_cycle || rung == Rung::check;
}
inline bool by_program(const Action& action) {
    const auto* repair = as<RepairHost>(action);
    return repair != nullptr && by_program(repair->rung);
}
// Tests whether a repaired host may be resumed, and does nothing to it.
inline bool is_check(const Action& action) {
    const auto* repair = as<RepairHost>(action);
    return repair != nullptr && repair->rung == Rung::check;
}
// Starts a job again.
inline bool restarts(const Action& action) {
    return as<RequeueJob>(action) != nullptr || as<UpdateJob>(action) != nullptr ||
           as<SubmitAgain>(action) != nullptr;
}
// The hosts that it adds to what the job's user excluded.
const std::vector<std::string>& exclusions_of(const Action& action);

// "drain n003: railyard[i-7]: …", "requeue job 12 without n003": for logs and notes.
std::string describe(const Action& action);

// The owner's tag in front of a reason: "railyard[i-7]: text", "railyard[user:alice]: text".
std::string tagged(std::string_view owner, std::string_view text);

// The owner in a reason's tag ("i-7", "user:alice"); empty when the reason is not ours: then an administrator
// or another program wrote it, and it is never undone or overwritten.
std::string_view owner_of(std::string_view reason);

} // namespace restart
