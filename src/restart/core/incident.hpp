// One fault and what is done about it: one culprit, its evidence, the jobs it hurts, the actions decided.
// Incidents live in State while open; afterwards their notes tell the story.
#pragma once

#include "base/clock.hpp"
#include "restart/core/action.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

enum class IncidentKind {
    node_loss,     // the host has gone
    bad_host,      // the host lives, a finding asks to leave it
    operator_wish, // a drain or resume by a person, through railctl
    mass_silence,  // half of the agents or more fell silent: the network or the daemon, not the hosts
    exclusion,     // what keeps requeued jobs off this host no longer fits, and is changed
    wrong_file     // most hosts lack what the fabric file lists: the file, not the hosts; its digest is in
                   // `rules`
};

// Where an incident stands. Recovery moves to the right only.
enum class Phase {
    suspected, // silent; a second witness is awaited
    saving,    // jobs were asked to save
    moving,    // actions are under way
    verifying, // all actions are done; jobs are awaited in their new place
    watching   // nothing to do but to wait until it is over
};
std::string_view to_string(IncidentKind kind);
// Whether it is about what is wrong with one host, of which a host has at most one.
inline bool is_fault(IncidentKind kind) {
    return kind == IncidentKind::node_loss || kind == IncidentKind::bad_host;
}
std::string_view to_string(Phase phase);

// How far an action has come.
enum class Progress {
    given,    // to the daemon; its outcome is awaited
    doubtful, // given before a restart: the next snapshot tells whether it was done
    waiting,  // failed for now; given again at `next_try`
    done,
    failed,   // for good; what still asks for it asks again after `next_try`
    overtaken // no longer right when its turn came
};

struct Intent {
    Action action;
    Progress progress = Progress::given;
    base::Time next_try{};
    std::uint32_t tries = 0;
    bool seen = false; // a snapshot was taken since it was settled
    bool settled() const { return progress >= Progress::done; }
    // Under way, or done and not yet seen in a snapshot.
    bool in_flight() const { return !settled() || (progress == Progress::done && !seen); }
    bool operator==(const Intent&) const = default;
};

// What an incident means for one job.
struct HurtJob {
    std::uint32_t id = 0;
    std::string name;                  // as its user knows it (RmJob)
    std::uint32_t epoch = 0;           // the start that the fault hurt
    base::Time started{};              // of that start
    bool recover = false;              // we requeue it
    std::string left;                  // or why not; weighed anew as long as the job is on the host
    bool observed = false;             // observe_only was set: only told what would be done
    bool hold = false;                 // requeue it held: it makes no progress
    std::optional<base::Time> asked;   // to save
    std::optional<base::Time> save_by; // moved at this time at the latest
    std::optional<Commit> last; // its last commit: first when asked to save, then when its work stopped
    std::optional<base::Time> stopped; // when its work ended, the fault or our requeue: the requeue was given
    bool settled = false;              // runs elsewhere or has ended
    bool told_waiting = false;         // noted that it stays pending
    std::string shown() const { return name.empty() ? std::to_string(id) : name; }
    bool operator==(const HurtJob&) const = default;
};

struct Incident {
    std::uint64_t number = 0;
    IncidentKind kind = IncidentKind::bad_host;
    Phase phase = Phase::suspected;
    std::string host; // the culprit; empty for mass_silence and wrong_file
    std::string what; // a phrase for reasons and headings: "host silent, not responding to slurmctld"
    base::Time opened{};
    base::Time fault{};             // when it began, as well as is known
    std::vector<std::string> rules; // findings joined in it, "rule@component"
    std::vector<HurtJob> jobs;
    std::vector<Intent> intents;
    std::uint32_t next_action = 1;
    std::string told;      // what was last told of why the culprit is not drained, so that it is told once
    bool observed = false; // observe_only was set when it was last looked at: only told what would be done

    std::string id() const { return "i-" + std::to_string(number); }
    bool operator==(const Incident&) const = default;
};

} // namespace restart
