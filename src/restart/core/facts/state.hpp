// Everything restartd knows and intends: a plain value that step() transforms and the journal stores.
#pragma once

#include "base/clock.hpp"
#include "restart/core/estimate/rates.hpp"
#include "restart/core/estimate/starts.hpp"
#include "restart/core/facts/fabric_facts.hpp"
#include "restart/core/facts/gang_plan.hpp"
#include "restart/core/facts/idle_check.hpp"
#include "restart/core/facts/incident.hpp"
#include "restart/core/facts/known_check.hpp"
#include "restart/core/facts/pauses.hpp"
#include "restart/core/facts/peer_looks.hpp"
#include "restart/core/facts/repair_state.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/core/straggle/paces.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// Represents the loss of the host among findings.
inline constexpr std::string_view lost_key = "lost";

struct HostFault {
    base::Time at{};
    std::string what; // a phrase; empty: from an older release
    bool operator==(const HostFault&) const = default;
};

// The host's agent announced that the host is being shut down or rebooted in order (Report::leaving).
struct Departure {
    base::Time at{};
    std::string boot_id;            // of the life that ended this way
    bool idle = false;              // no job ran there then
    std::uint64_t incident = 0;     // the loss that followed; 0: none
    std::optional<base::Time> back; // reports from its next life since then
    bool operator==(const Departure&) const = default;
};

// A job whose processes its own starter keeps on the host (rail-lsf-run(1)), as its agent reports it.
struct KeptJob {
    std::uint32_t epoch = 0, uid = 0; // JobReport's
    Kept kept = Kept::no;
    base::Time since{}; // reported this way
    bool operator==(const KeptJob&) const = default;
};

// Its place, from the fabric file (take_fabric).
struct HostPlace {
    std::string unit; // empty if the file does not have it
    std::string pod;
    std::vector<std::string> leaves;
    std::vector<HostPort> ports;
    bool operator==(const HostPlace&) const = default;
};

// What its agent reported last.
struct HostAgent {
    std::optional<base::Time> last_report; // by the daemon's clock; absent: the agent has never reported
    std::string boot_id;
    std::uint32_t generation = 0;     // of the agent: number of its reboots and returns from a loss
    std::vector<Finding> findings;    // what holds now
    std::vector<PortName> port_names; // ports that the fabric file names differently from the agent
    std::vector<std::string> not_watching;
    std::optional<base::SlurmdRecord> slurmd; // what its slurmd has loaded
    bool looks = false;                       // the agent looks at other hosts on request
    std::string fabric;                       // digest of the fabric file it has read
    std::map<base::JobId, KeptJob> kept;      // (kept_jobs.cpp)
    std::vector<StoredPace> paces;            // of the last windows, oldest first, at most most_pace_windows
    bool operator==(const HostAgent&) const = default;
};

// Which of its findings do not count, or not yet.
struct HostExemptions {
    // Findings that an administrator overruled by putting the host back into use: "rule@component", or
    // lost_key. Kept while the finding holds.
    std::vector<std::string> overruled;
    // Those that asked to leave it when it was last read as drained, by the same keys; absent: the state is
    // from an older release.
    std::optional<std::vector<std::string>> held_when_drained;
    std::vector<std::string> explained;        // an incident of a common cause accounts for them
    std::map<std::string, base::Time> arrived; // arrival of possible parts of a common cause
                                               // (common_cause.hpp)
    bool operator==(const HostExemptions&) const = default;
};

// Whether it is alive, by all sources (node_loss.cpp, silence.hpp).
struct HostLiveness {
    HostLinks links;                              // in the fabric's last report; 0/0 when all are up
    std::optional<base::Time> links_told;         // when that came between two sweeps
    std::optional<base::Time> dark_since;         // since when all its links are down
    std::optional<base::Time> unresponsive_since; // since when the resource manager has it as silent or down
    std::optional<base::Time> mute_since;         // since when its connections go unanswered (HostAsked)
    bool lost = false;                            // confirmed; until its agent reports again
    // The loss was confirmed by the resource manager only, which uses the same network as the reports.
    bool rm_confirmed_only = false;
    // It fell silent together with others, and until then this is attributed to what they share: a network
    // comes back for one host after the other.
    base::Time together_until{};
    base::Time lost_at{}; // when it was last confirmed
    // Until its agent reports again, an unanswered ping of the resource manager does not confirm a loss.
    bool suspicion_dropped = false;
    base::Time away_until{};            // when it was last seen away as planned (RmNode)
    base::Time alive_at{};              // when a job that needs it last committed
    std::optional<Departure> departure; // until it is in use again, or has a fault (departures.cpp)
    bool operator==(const HostLiveness&) const = default;
};

// How often it failed (learn/).
struct HostHistory {
    std::vector<HostFault> faults;          // of the last weeks (lemon.hpp)
    base::Time fault_at{};                  // when its last fault was counted
    std::optional<base::Time> broken_since; // by a counted fault, until it is in use again
    bool was_out = false;                   // of use since then
    bool operator==(const HostHistory&) const = default;
};

// Its repair (repair/).
struct HostRepair {
    FaultClass fault = FaultClass::other; // of its last incident
    std::optional<Repair> repair;         // under way, or given up
    std::vector<base::Time> rungs_tried;  // start times of rungs that did something
    std::optional<Returned> returned;     // by the last successful repair
    bool operator==(const HostRepair&) const = default;
};

// A function that changes one part takes that part.
struct HostState : HostPlace, HostAgent, HostExemptions, HostLiveness, HostHistory, HostRepair {
    std::optional<RmNode> node;            // as last read; absent if the resource manager does not know it
    std::optional<base::Time> drain_begun; // when we last began to keep it out of use for a fault
    std::vector<KnownCheck> checks;        // of its parts, as jobs reported
    std::optional<IdleCheck> idle_check;   // once one has begun
    bool operator==(const HostState&) const = default;
};

// A job's railrun, as last reported (JobRun).
struct RunState {
    std::string host; // whose agent reports it: the one with the batch script
    std::uint32_t launch = 0;
    std::vector<std::string> ranks, spares; // in their orders
    bool ended = false;
    std::optional<base::Time> gone; // its agent no longer reports it since then
    base::Time began{};             // when this launch was first reported
    bool operator==(const RunState&) const = default;
};

// What the preflight of a job's start requests (railrun(1)).
struct PreflightState {
    std::uint32_t epoch = 0;
    std::string host;                 // whose agent reports it
    std::vector<std::string> without; // hosts of the job
    std::string why;                  // a phrase
    bool asks = false;                // for a requeue, and waits for the answer
    std::optional<base::Time> requeued;
    std::optional<std::string> stays; // why it is not requeued
    std::uint32_t times = 0;          // such requeues in a row
    bool operator==(const PreflightState&) const = default;
};

struct StepStart {
    std::uint32_t epoch = 0, launch = 0;
    bool operator==(const StepStart&) const = default;
};

// What NCCL last reported about a job's communicators, to the agent of one of its hosts.
struct NcclState {
    std::string host;
    base::Time at{};
    NcclWord word;
    bool operator==(const NcclState&) const = default;
};

// How often a job failed on its own and was restarted. Failures caused by a host are not counted.
struct CrashLoop {
    std::uint32_t futile = 0;  // since its newest checkpoint
    std::uint32_t all = 0;     // halved by each day of progress
    base::Duration progress{}; // since then
    bool operator==(const CrashLoop&) const = default;
};

// What is known about its checkpoints (commits.cpp, learn.cpp).
struct JobCheckpoints {
    bool connected = false;           // a process of it is connected to an agent in this epoch
    std::optional<Commit> commit;     // the newest, of any epoch
    std::chrono::microseconds cost{}; // measured blocking cost of a checkpoint; 0 until a commit was seen
    std::chrono::microseconds safe_after{}; // from its beginning until it is safe; 0 until then
    std::uint64_t lost_host_seconds = 0;    // by faults: work, and time until it ran again, times its hosts
    base::Duration interval{};              // between two checkpoints, as sent to it
    bool operator==(const JobCheckpoints&) const = default;
};

// Where it ran (facts.cpp).
struct JobPlaces {
    std::vector<std::string> ran_on; // the nodes of its latest start,
    std::uint32_t ran_epoch = 0;     // which start that was,
    base::Time ran_since{};          // when it began
    std::vector<std::string> had;    // the nodes of the start before it, if known,
    std::optional<base::Time> left;  // and when it was first seen to have left them
    // Nodes it continues without (sbatch --no-kill), and since when.
    std::map<std::string, base::Time> dropped_nodes;
    std::vector<std::string> moved_off;      // hosts it was moved away from, while their fault holds
    std::vector<std::string> excluded_by_us; // those of rm.excluded that we added
    bool operator==(const JobPlaces&) const = default;
};

// How its present start proceeds, by its hosts' agents.
struct JobProgress {
    // The start whose first step is known: its number of earlier requeues, and railrun's launch.
    std::optional<StepStart> stepped;
    std::optional<RunState> run;
    std::optional<JobPace> pace;             // of a job on several hosts that report a pace
    std::optional<NcclState> nccl;           // not used for decisions
    bool faulted = false;                    // a process of it was noted to have had an XID
    std::optional<PreflightState> preflight; // of the last start with one that did not pass
    bool operator==(const JobProgress&) const = default;
};

// How often it was restarted, by whom, and why not (decide/).
struct JobRestarts {
    std::uint32_t requeues = 0;                  // by us
    std::optional<std::uint32_t> requeued_epoch; // the start we last requeued it from
    base::Duration requeue_took{};               // from then until it ran again; 0: none yet
    CrashLoop crashes;
    std::uint32_t unlaunched = 0;                // starts in a row that its hosts could not make
    std::optional<std::uint32_t> judged_epoch;   // the start whose failure on its own was decided on
    std::optional<std::uint32_t> withheld_epoch; // and the one for which a shut gate was noted
    bool operator==(const JobRestarts&) const = default;
};

// Where it will run, if restartd chooses that (act/gangs.cpp).
struct JobPlans {
    std::optional<GangPlan> plan;               // none once it runs
    std::uint32_t plans = 0;                    // actions of its plans so far
    std::optional<std::uint32_t> checked_start; // the last start that was compared with its plan
    bool operator==(const JobPlans&) const = default;
};

// A function that changes one part takes that part.
struct JobState : JobCheckpoints, JobPlaces, JobProgress, JobRestarts, JobPlans {
    RmJob rm; // as last read; ended only with a failure of its own (RmFailure)
    bool operator==(const JobState&) const = default;
};

// Whether a fabric file that agents have read is trusted.
struct FileTrust {
    std::uint32_t unfit = 0; // hosts that lack what it lists
    base::Time since{};      // since when it is this many
    bool trusted = false;
    bool operator==(const FileTrust&) const = default;
};

struct State {
    std::map<std::string, HostState, std::less<>> hosts;
    std::map<base::JobId, JobState> jobs; // in the resource manager: not ended, or ended by their own failure
    std::map<std::uint64_t, Incident> incidents;              // open, by number
    std::map<std::string, SwitchState, std::less<>> switches; // from the fabric file
    std::uint64_t next_incident = 1;
    base::Time last_tick{};
    base::Time grace_from{};                // silence that began earlier does not count,
    base::Time grace_until{};               // and no host is suspected earlier
    std::map<std::string, FileTrust> files; // by digest (file_trust.hpp)
    bool rm_answers = true;
    base::Time rm_answers_since{};           // without a break
    std::optional<base::Time> rm_read;       // when the resource manager was last read
    std::optional<base::Time> swept;         // when the last complete sweep of the fabric came
    std::vector<LinkFinding> links;          // what holds on links, by fabricwatchd; not used for decisions
    std::optional<CounterCoverage> counters; // how far its last reading of counters came
    std::optional<base::Time> links_judged;  // when it last reported what holds, having read any; none: never
    std::optional<RmConfig> rm_config;       // none until it was read
    Learned learned;                         // of failures, repairs and restarts (learn.hpp)
    Programs programs;                       // how long they take to start, by user and name (starts.hpp)
    std::vector<Pause> pauses;
    std::vector<Maintenance> maintenance;
    std::map<std::string, Crossing> crossings;           // by the bound's key, then a blank and what it
                                                         // bounds
    std::vector<base::Duration> switch_restarts;         // how long the last restarts of switches took
    std::map<std::string, PeerLooks, std::less<>> looks; // by the silent host that others look at
    std::uint64_t next_look = 1;
    base::Time no_idle_checks_before{};
    bool operator==(const State&) const = default;

    // Whether reports of this host are accepted: the resource manager or the fabric names it.
    bool knows_host(std::string_view name) const;

    // The job with this id, or the heterogeneous job with a component of this id; null when there is none.
    const JobState* find_job(base::JobId id) const;

    // The open incident whose culprit is the host; null if there is none.
    const Incident* incident_of(std::string_view host) const;
};

// The id of the action that carries out the job's plan: "p-12[3]/4".
std::string plan_action(base::JobId job, const GangPlan& plan);
// And that of the last action about the host's idle check: "c-n003/4".
std::string idle_check_action(std::string_view host, const IdleCheck& check);

// Hosts that Railyard's drains keep out of use, by the tags in their reasons and by drains under way.
std::size_t drained_by_us(const State& state);

} // namespace restart
