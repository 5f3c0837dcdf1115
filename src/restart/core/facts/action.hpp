// What the daemon is to do to the resource manager. An action is an intent first: it is written to the
// journal with the state, then performed, then its outcome is passed to step() as ActionDone.
//
// Each is idempotent: restart/rm checks before it acts (the reason's tag for hosts, the epoch for jobs), so
// that an action repeated after a crash does nothing more.
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

// The job of an action, and its culprit.
struct JobTarget {
    base::JobId id{};
    std::string name;        // as its user knows it (RmJob)
    std::uint32_t epoch = 0; // the start it is about; a job that has begun a later one is left alone
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
    bool renew = false; // we have drained it: only the reason is another
    bool operator==(const DrainHost&) const = default;
};

// The host is dead: its jobs end now.
struct DownHost {
    std::string host;
    std::string reason;           // starts with the owner's tag; empty: the one that it has stands
    bool drain = false;           // it does not come back by itself
    std::uint32_t generation = 0; // of the host's agent (HostState) when this was decided
    bool operator==(const DownHost&) const = default;
};

// Undoes our drain.
struct ResumeHost {
    std::string host;
    bool operator==(const ResumeHost&) const = default;
};

// Back to pending, begin now, never on `exclude`; held there when `hold`.
struct RequeueJob {
    JobTarget job;
    std::vector<std::string> exclude; // added to what the user excluded
    bool hold = false;
    // It has ended (RmFailure): only then is it started from its end, and what is called success only when
    // this says so.
    bool ended = false;
    std::string comment{}; // what its comment is to say of it; empty: what it says
    // Hosts of the start that it is about, those it excludes too, to be kept where no others are better
    // (sched::Request::had); empty: not known.
    std::vector<std::string> had{};
    bool operator==(const RequeueJob&) const = default;
};

// A pending job: begin now, never on `exclude`.
struct UpdateJob {
    JobTarget job;
    std::vector<std::string> exclude;
    std::string comment{};
    bool release = false;           // the resource manager's hold (RmJob::unlaunched) is lifted
    std::vector<std::string> had{}; // as RequeueJob's
    bool operator==(const UpdateJob&) const = default;
};

// A pending job: never on `exclude`, on `readmit` again; nothing else of it changes.
struct KeepOff {
    JobTarget job;
    std::vector<std::string> exclude;
    std::vector<std::string> readmit; // hosts that we excluded before
    bool operator==(const KeepOff&) const = default;
};

// Sends its user what is done with it.
struct NotifyJob {
    JobTarget job;
    std::string text;
    bool operator==(const NotifyJob&) const = default;
};

// One rung of a host's repair, or its check. A reboot is the resource manager's, the others are programs of
// the site.
struct RepairHost {
    std::string host;
    Rung rung = Rung::reboot;
    std::string reason;            // starts with the owner's tag
    std::string boot_id;           // the host's, when this was decided
    std::vector<std::string> gpus; // to be reset, their numbers; empty: all
    // A check: what was repaired, and what helped.
    FaultClass fault = FaultClass::other;
    Rung after = Rung::nothing;
    bool operator==(const RepairHost&) const = default;
};

// A drained host that jobs hold and do not use any more: it is set down, which takes it out of those that
// survive that (RmJob::no_kill). It is done only while these are all the jobs on it, and keeps the reason of
// the drain.
struct FreeHost {
    std::string host;
    std::vector<base::JobId> jobs{}; // in the present start
    bool operator==(const FreeHost&) const = default;
};

// A gang that waits: it starts on these hosts and on no others (gang_plan.hpp).
struct PlaceJob {
    JobTarget job;
    std::vector<std::string> hosts; // in rank order
    bool operator==(const PlaceJob&) const = default;
};

// Back to the queue from which it cannot start: a gang that runs, so that whoever requeues it lets it wait
// there, or one that did not start.
struct ParkJob {
    JobTarget job;
    std::string queue;
    bool operator==(const ParkJob&) const = default;
};

// An idle host: railcheck tries it, in a job of our own that nothing waits for (idle_check.hpp).
struct CheckHost {
    std::string host;
    std::uint64_t level = 2;                   // of railcheck(8), 1 to 3
    std::string partition{}, account{}, qos{}; // of the job; empty: the resource manager's defaults
    bool operator==(const CheckHost&) const = default;
};

// That job ends now. Its host is the one that it tries.
struct EndCheck {
    JobTarget job;
    bool operator==(const EndCheck&) const = default;
};

// A job that has ended and of which the resource manager has no record any more (RmJob::forgotten): its
// script is submitted once more as its user's, never on `exclude`, as a job that says which start it takes
// the place of (RmJob::again). With `hold` it waits until its user releases it.
struct SubmitAgain {
    JobTarget job;
    std::vector<std::string> exclude;
    bool hold = false;
    std::string comment{}; // what its comment is to say of it
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

// The action as one of the kinds; null: it is another.
template <class Kind> const Kind* as(const Action& action) {
    return std::get_if<Kind>(&action.what);
}

// The job that the action is about; null: it is about a host.
const JobTarget* target_of(const Action& action);
// Its host: the one it is about, or the job's culprit.
const std::string& host_of(const Action& action);

// The job of a job action; of another one what names no job, and so is found nowhere.
inline base::JobId job_of(const Action& action) {
    const auto* job = target_of(action);
    return job == nullptr ? base::JobId() : job->id;
}
// Likewise; none: it is about a host.
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
// Is done by a program of the site, and not by the resource manager.
inline bool by_program(Rung rung) {
    return rung == Rung::gpu_reset || rung == Rung::power_cycle || rung == Rung::check;
}
inline bool by_program(const Action& action) {
    const auto* repair = as<RepairHost>(action);
    return repair != nullptr && by_program(repair->rung);
}
// Tries whether a repaired host may be resumed, and does nothing to it.
inline bool is_check(const Action& action) {
    const auto* repair = as<RepairHost>(action);
    return repair != nullptr && repair->rung == Rung::check;
}
// Starts a job once more.
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

// The owner in a reason's tag ("i-7", "user:alice"), empty when the reason is not ours: then it is a
// person's or another program's and is never undone or overwritten.
std::string_view owner_of(std::string_view reason);

} // namespace restart
