// One fault and what is done about it: the culprit, the evidence, the jobs affected, the actions decided.
// Incidents are in State while open; afterwards their notes in the journal remain.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

enum class IncidentKind {
    node_loss,        // the host is lost
    bad_host,         // the host is up, a finding asks to move jobs off it
    operator_request, // a drain or resume by a person, through railctl
    mass_silence,     // half of the agents or more fell silent: the network or the daemon, not the hosts
    exclusion,        // what keeps requeued jobs off this host no longer fits, and is changed
    job_failure,      // a job failed by itself and is started again, or held
    wrong_file,       // most hosts lack what the fabric file lists: the file, not the hosts; its digest is in
                      // `rules`
    common_cause,     // what several hosts share failed: `cause`; `rules` has its symptoms, with their hosts
    departure,        // a host that had been shut down in order is back, and is put into use again
    repair,           // a host that a fault put out of use is brought back (repair/repair.hpp)
    preflight         // a job's own checks want it requeued without some hosts, before it has begun
};

// Where an incident stands. Recovery moves to the right only.
enum class Phase {
    suspected, // silent; a second witness is awaited
    saving,    // jobs were asked to save
    moving,    // actions are under way
    verifying, // all actions are done; jobs are awaited in their new place
    watching,  // nothing to do but wait until it is over
    withheld   // decided, but the gate keeps it back
};
std::string_view to_string(IncidentKind kind);
// Whether it is about what is wrong with one host, of which a host has at most one.
inline bool is_fault(IncidentKind kind) {
    return kind == IncidentKind::node_loss || kind == IncidentKind::bad_host;
}
std::string_view to_string(Phase phase);

// How far an action has come.
enum class Progress {
    dispatched,  // to the daemon; its outcome is awaited
    unconfirmed, // started before a restart of restartd: the next snapshot shows whether it was done
    waiting,     // failed for now; started again at `next_try`
    done,
    failed,  // for good; decided again after `next_try` if it is still needed
    obsolete // no longer needed when it was to be performed
};

struct Intent {
    Action action;
    Progress progress = Progress::dispatched;
    base::Time next_try{};
    std::uint32_t tries = 0;
    bool seen = false;      // a snapshot was taken since it was settled
    bool found_bad = false; // a check that failed: by what it found, not by itself
    bool settled() const { return progress >= Progress::done; }
    // Under way, or done and not yet seen in a snapshot.
    bool in_flight() const { return !settled() || (progress == Progress::done && !seen); }
    bool operator==(const Intent&) const = default;
};

// What is to be reached for a job that a fault affects.
enum class JobGoal {
    stay,      // it is left where it runs (`left` says why); decided again as long as it is there
    elsewhere, // it runs again without the culprit
    held,      // it is requeued and held: it makes no progress
    inside     // its railrun starts its step again in its allocation, without the culprit
};

// What would be done, were the gate open (act/gate.hpp).
struct Withheld {
    std::string what; // "drain n003", "requeue job 12"
    std::optional<base::JobId> job;
    std::string key; // Shut
    std::string why;
    bool operator==(const Withheld&) const = default;
};

// A job affected by an incident, and what is done about it.
struct AffectedJob {
    base::JobId id{};
    std::string name;              // as its user knows it (RmJob)
    std::optional<JobOwner> owner; // none: noted by an older release
    std::uint32_t epoch = 0;       // the start that the fault affected
    base::Time started{};          // of that start
    JobGoal goal = JobGoal::stay;
    std::vector<std::string> on;       // of common_cause: the hosts of it that the job runs on
    std::string left;                  // why it stays
    bool weighed = false;              // it stays because moving would cost more (decide/cost.hpp)
    std::optional<base::Time> asked;   // to save
    std::optional<base::Time> save_by; // moved at this time at the latest
    std::optional<Commit> last; // its last commit: first when asked to save, then when its work stopped
    // When its work ended, by the fault, our requeue or our order: that was given.
    std::optional<base::Time> stopped;
    std::uint32_t launch = 0;          // inside: the one that the fault affected,
    std::optional<base::Time> ordered; // and since when the next one is ordered
    bool settled = false;              // runs elsewhere or has ended
    bool noted_waiting = false;        // noted that it stays pending
    // To be moved, and neither gone nor begun to be moved.
    bool to_move() const { return goal != JobGoal::stay && !settled && !stopped; }
    std::string shown() const { return name.empty() ? to_string(id) : name; }
    bool operator==(const AffectedJob&) const = default;
};

struct Incident {
    std::uint64_t number = 0;
    IncidentKind kind = IncidentKind::bad_host;
    Phase phase = Phase::suspected;
    std::string host; // the culprit; empty for mass_silence, job_failure, preflight and wrong_file
    std::string what; // a phrase for reasons and headings: "host silent, its links are down"
    base::Time opened{};
    base::Time fault{};                              // when it began, as well as is known
    std::vector<std::string> rules;                  // findings joined in it, "rule@component"
    std::string cause;                               // of common_cause: "leaf switch sw3", "rack r7"
    std::uint32_t most_parts = 0;                    // how many of its parts showed it at most
    base::Time wait_until{};                         // it is given this long to come back by itself
    std::optional<base::Time> few_since, none_since; // fewer than half of them, and none, show it since
    // Of common_cause, the ids of incidents of single hosts that it accounts for; of these, its own.
    std::vector<std::string> merged;
    std::vector<AffectedJob> jobs;
    std::vector<Intent> intents;
    std::uint32_t next_action = 1;
    std::string drain_refusal; // the last note on why the culprit is not drained, so that it is noted once
    std::vector<Withheld> withheld;    // as of the last step: the plan, as far as the gate keeps it back
    bool fresh = false;                // new, or worse than when it was last decided on
    bool learned = false;              // counted, or not a fault that counts (learn.hpp)
    std::optional<base::Time> decided; // first

    std::string id() const { return "i-" + std::to_string(number); }
    bool operator==(const Incident&) const = default;
};

} // namespace restart
