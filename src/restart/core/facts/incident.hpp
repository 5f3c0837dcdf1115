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
    bad_host,         // the host is up, but a finding asks to move jobs off it
    operator_request, // a drain or resume by an operator, through railctl
    mass_silence,     // half of the agents or more fell silent: the network or the daemon, not the hosts
    exclusion,        // what keeps requeued jobs off this host no longer fits and is changed
    job_failure,      // a job failed on its own and is restarted, or held
    wrong_file,       // most hosts lack what the fabric file lists: the file, not the hosts; its digest is in
                      // `rules`
    common_cause,     // something that hosts share failed: `cause`; `rules` has its symptoms, with their
                      // hosts
    departure,        // a host that was shut down in order is back, and is put into use again
    repair,           // a host that a fault put out of use is brought back (repair/repair.hpp)
    preflight         // a job's own checks request a requeue without some hosts, before it has begun
};

// How far an incident has come. Recovery moves to the right only.
enum class Phase {
    suspected, // silent; waiting for a second source
    saving,    // jobs were asked to save
    moving,    // actions are under way
    verifying, // all actions are done; waiting for jobs in their new place
    watching,  // nothing to do but wait for its end
    withheld   // decided, but held back by the gate
};
std::string_view to_string(IncidentKind kind);
// Whether it is a fault of one host; a host has at most one of these.
inline bool is_fault(IncidentKind kind) {
    return kind == IncidentKind::node_loss || kind == IncidentKind::bad_host;
}
std::string_view to_string(Phase phase);

// How far an action has come.
enum class Progress {
    dispatched,  // passed to the daemon; waiting for its outcome
    unconfirmed, // begun before a restart of restartd: the next snapshot shows whether it was done
    waiting,     // failed for now; repeated at `next_try`
    done,
    failed,  // permanently; decided again after `next_try` if still needed
    obsolete // no longer needed when it was to be performed
};

struct Intent {
    Action action;
    Progress progress = Progress::dispatched;
    base::Time next_try{};
    std::uint32_t tries = 0;
    bool seen = false;      // a snapshot was taken since it was settled
    bool found_bad = false; // a failed check: because of what it found, not because it could not run
    bool settled() const { return progress >= Progress::done; }
    // Under way, or done and not yet seen in a snapshot.
    bool in_flight() const { return !settled() || (progress == Progress::done && !seen); }
    bool operator==(const Intent&) const = default;
};

// What is to be achieved for a job that a fault affects.
enum class JobGoal {
    stay,      // left where it runs (`left` says why); decided again while it is there
    elsewhere, // it runs again without the culprit
    held,      // it is requeued and held: it makes no progress
    inside     // its railrun restarts its step in its allocation, without the culprit
};

// What would be done if the gate were open (act/gate.hpp).
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
    std::vector<std::string> on;       // of common_cause: those of its hosts that the job runs on
    std::string left;                  // why it stays
    bool weighed = false;              // it stays because moving would cost more (decide/cost.hpp)
    std::optional<base::Time> asked;   // to save
    std::optional<base::Time> save_by; // at the latest, it is moved then
    std::optional<Commit> last; // its last commit: first when asked to save, then when its work stopped
    // When its work ended, by the fault, our requeue or our order: when that was given.
    std::optional<base::Time> stopped;
    std::uint32_t launch = 0;          // inside: the launch that the fault affected,
    std::optional<base::Time> ordered; // and since when the next one is ordered
    bool settled = false;              // runs elsewhere or has ended
    bool noted_waiting = false;        // noted that it stays pending
    // To be moved; neither gone nor its move begun.
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
    base::Time fault{};                              // when it began, as far as known
    std::vector<std::string> rules;                  // findings included in it, "rule@component"
    std::string cause;                               // of common_cause: "leaf switch sw3", "rack r7"
    std::uint32_t most_parts = 0;                    // most of its parts that showed it at one time
    base::Time wait_until{};                         // until then it may come back on its own
    std::optional<base::Time> few_since, none_since; // since when fewer than half of them show it, since when
                                                     // none
    // Of common_cause: ids of the single-host incidents that it accounts for; then its own jobs.
    std::vector<std::string> merged;
    std::vector<AffectedJob> jobs;
    std::vector<Intent> intents;
    std::uint32_t next_action = 1;
    std::string drain_refusal; // last note on why the culprit is not drained, so that it is noted only once
    std::vector<Withheld> withheld;    // as of the last step: the part of the plan that the gate holds back
    bool fresh = false;                // new, or worse than at its last decision
    bool learned = false;              // counted, or not a fault that counts (learn.hpp)
    std::optional<base::Time> decided; // for the first time

    std::string id() const { return "i-" + std::to_string(number); }
    bool operator==(const Incident&) const = default;
};

} // namespace restart
