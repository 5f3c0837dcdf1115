// restartd's answers to readers: the bodies of GET /v1/status, /v1/explain and /v1/history.
//
// restartd fills these structs (daemon/views.hpp), railctl and railtopo read them. Terms of another program
// ("IDLE+DRAIN") are unchanged; everything else is a term of wire(7). An answer of an older restartd lacks
// later additions: such members keep their defaults.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/host_state.hpp"
#include "base/json.hpp"
#include "restart/wire/plan.hpp"
#include "restart/wire/rates.hpp"
#include "restart/wire/report.hpp"
#include "restart/wire/return_status.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

struct AgentStatus {
    std::optional<base::Time> last_report;    // none: never
    bool silent = false;                      // reported before, but not for longer than [restartd] silent
    std::vector<std::string> not_watching;    // Report::not_watching
    std::optional<base::SlurmdRecord> slurmd; // Report::slurmd
    bool operator==(const AgentStatus&) const = default;
};

// Links of a host as the fabric shows them.
struct LinkStatus {
    std::uint32_t up = 0;
    std::uint32_t total = 0;
    bool operator==(const LinkStatus&) const = default;
};

// What another host saw of one whose agent is silent.
struct PeerStatus {
    std::string host; // the other
    base::Knocked saw = base::Knocked::unknown;
    std::optional<base::Time> at; // none: it has not answered yet
    bool operator==(const PeerStatus&) const = default;
};

struct HostStatus {
    std::string name;
    std::string unit;                 // in the fabric file; empty: in none
    std::optional<std::string> state; // in the resource manager's terms; none: it does not know the host
    std::string reason;               // of a drain or a down
    std::string set_by;               // who set it, if known and not Railyard
    bool down = false;
    bool drain = false;
    bool not_responding = false;        // to the resource manager's ping
    std::optional<base::HostState> use; // how far it may be given to jobs; none: not known
    bool lost = false;                  // restartd considers it lost
    AgentStatus agent;
    std::optional<LinkStatus> links; // none: not reported by the fabric
    std::vector<PeerStatus> peers;   // that look at it, because its agent is silent
    std::vector<Finding> findings;
    std::optional<std::string> incident; // open, with this host as its culprit
    std::optional<ReturnStatus> repair;
    bool operator==(const HostStatus&) const = default;
};

// A part of a heterogeneous job.
struct ComponentStatus {
    base::JobId id{};
    std::string name; // "12+1"
    std::vector<std::string> nodes;
    bool operator==(const ComponentStatus&) const = default;
};

// What slows a running job down, as far as restartd can see (core/straggle).
struct JobPaceStatus {
    std::string verdict;     // "none", "found", "unknown"
    base::Time judged{};     // last
    std::string suspect;     // "n003 gpu 5"; empty: none
    std::string host;        // of the suspect, or empty
    int gpu = -1, rail = -1; // -1: none
    std::string port, leaf;  // or empty
    double score = 0;        // the share of the job's time spent waiting for it
    double confidence = 0;   // 0 … 1
    std::vector<std::string> evidence;
    std::optional<base::Time> since;  // when it was noted; none: not certain enough, or there is none
    std::vector<std::string> missing; // what would show more
    std::vector<std::string> gpus{};  // what the job's GPUs do
    bool operator==(const JobPaceStatus&) const = default;
};

struct JobStatus {
    base::JobId id{};
    std::string name;         // as its user knows it: "12", "12_3"
    bool interactive = false; // nothing can restart it
    std::vector<ComponentStatus> components;
    std::uint32_t uid = 0;
    std::string state; // "pending", "running", "suspended", "completing", "ended"
    std::vector<std::string> nodes;
    std::uint32_t node_count = 0;
    std::uint32_t epoch = 0;            // how often it was requeued
    base::Time start{};                 // of the present or next start
    std::optional<std::string> restart; // "auto", "never"; none: not set
    std::string ckpt_dir;
    std::vector<std::string> excluded;
    std::string why_pending; // in the resource manager's term; empty unless it is pending
    bool speaks = false;     // to the agents of its hosts
    std::optional<Commit> commit;
    double cost_s = 0;                 // measured, of a checkpoint
    base::Duration interval{};         // between two checkpoints
    std::uint32_t requeues = 0;        // by restartd
    std::optional<JobPaceStatus> pace; // none: not judged
    std::string nccl_host;             // whose agent asked NCCL; empty: none did
    std::vector<std::string> nccl;     // the problems it reported with its communicators
    bool operator==(const JobStatus&) const = default;
};

// A part of the cost of moving a job.
struct CostTermStatus {
    std::string name; // "save", "requeue", "restart", "lost work"
    double node_hours = 0;
    std::string from; // "measured", "[restart] restart_time"
    bool operator==(const CostTermStatus&) const = default;
};

// The cost of leaving a job on a slow host, compared with moving it.
struct JobCostStatus {
    double slowdown = 0;   // the share of its work that it loses there
    std::string slowed_by; // the finding: "rule@component"
    std::uint32_t nodes = 0;
    base::Duration stays{};            // how long it still runs
    std::string stays_from;            // "its time limit", "[restart] horizon"
    double waiting = 0, moving = 0;    // node-hours
    std::vector<CostTermStatus> terms; // of moving
    bool operator==(const JobCostStatus&) const = default;
};

// What an incident means for one job.
struct IncidentJobStatus {
    base::JobId id{};
    std::string name;
    std::uint32_t epoch = 0;
    bool recover = false;              // restartd requeues it
    std::string left;                  // why not; empty otherwise
    std::optional<JobCostStatus> cost; // the present values, while costs are compared
    std::optional<base::Time> save_by;
    std::optional<Commit> last;
    std::optional<base::Time> stopped;
    bool settled = false;
    bool operator==(const IncidentJobStatus&) const = default;
};

struct ActionStatus {
    std::string id;   // "i-7/2"
    std::string kind; // "drain_host"
    std::string text;
    std::string progress; // "given", "doubtful", "waiting", "done", "failed", "overtaken"
    std::uint32_t tries = 0;
    bool operator==(const ActionStatus&) const = default;
};

struct IncidentStatus {
    std::string id; // "i-7"
    std::string kind;
    std::string phase;
    std::string host; // the culprit; empty if there is none
    std::string what;
    base::Time opened{};
    base::Time fault{};
    std::vector<IncidentJobStatus> jobs;
    std::vector<ActionStatus> actions;
    bool operator==(const IncidentStatus&) const = default;
};

struct RmStatus {
    bool answers = false;
    std::optional<base::Time> read; // none: it has not answered yet
    bool operator==(const RmStatus&) const = default;
};

struct JournalStatus {
    std::string file;
    std::string error; // empty while it can be written
    bool operator==(const JournalStatus&) const = default;
};

// The restartd that answers: the active one.
struct PrimaryStatus {
    std::string host, url;   // as configured there
    std::uint64_t epoch = 0; // of its lease; 0: none, or from an older release
    bool operator==(const PrimaryStatus&) const = default;
};

struct FabricStatus {
    std::string error; // of the fabric file; empty: none
    bool operator==(const FabricStatus&) const = default;
};

// A link with a problem, by the counters of its ports.
struct BadLinkStatus {
    LinkFinding finding;
    std::vector<std::string>
        jobs; // by name, that run on the hosts behind it now; those that the user may see
    bool operator==(const BadLinkStatus&) const = default;
};

// How much of a job's traffic goes through a link.
enum class Passing {
    all,  // of a host on that rail: there is no other path
    some, // it is one of several paths, depending on the fabric's routing
    none, // its hosts meet below: only traffic that leaves them, such as storage, may pass
    other // it is not on their path; what waits behind it is
};

// A finding on a link that hosts use, or that delays their traffic.
struct UsedLinkStatus {
    LinkFinding finding;
    std::vector<std::string> hosts; // of the hosts in question
    Passing passing = Passing::all;
    std::string says; // the same as text
    bool operator==(const UsedLinkStatus&) const = default;
};

// The links that a job's hosts, or one host, use.
struct UsedLinksStatus {
    std::optional<base::Duration> judged;    // how long ago, by fabricwatchd; none: never
    std::optional<CounterCoverage> counters; // of that
    std::string unknown;                     // why their present state is not known; empty: it is
    std::vector<UsedLinkStatus> findings;    // the worst first; if not known, their last state
    std::vector<std::string> down;           // links of the hosts and of their leaves
    bool operator==(const UsedLinksStatus&) const = default;
};

// What can confirm the loss of a host.
struct WitnessStatus {
    std::uint64_t hosts = 0;                // that the resource manager knows
    std::uint64_t agents = 0;               // those of them whose agents report
    std::optional<base::Duration> gives_up; // by the resource manager, a host; 0: never; none: not known
    std::optional<base::Duration> swept;    // since the last complete sweep of the fabric
    bool slow = false;                      // none of them is quick
    std::vector<std::string> sentences;
    bool operator==(const WitnessStatus&) const = default;
};

struct InstallationStatus {
    std::vector<std::string> missing; // a sentence for each part
    bool operator==(const InstallationStatus&) const = default;
};

// GET /v1/status
struct Status {
    base::Time time{};
    bool observe_only = false;
    Modes modes;
    RmStatus resource_manager;
    JournalStatus journal;
    PrimaryStatus primary;
    FabricStatus fabric;
    WitnessStatus witnesses;
    InstallationStatus installation;
    std::uint64_t drained_by_railyard = 0;
    std::vector<HostStatus> hosts;
    std::vector<std::string> unknown_hosts; // whose agents report under an unknown name
    std::vector<JobStatus> jobs;
    std::vector<IncidentStatus> incidents;   // open
    std::vector<BadLinkStatus> links;        // the worst first
    std::optional<CounterCoverage> counters; // of ports of the fabric; none: nothing reads them
    std::vector<std::string> not_shown;      // to this user: a phrase each

    static base::Expected<Status> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const Status&) const = default;
};

struct TimelineEntry {
    base::Time time{};
    std::string kind;     // "signal", "decision", "action", "outcome"
    std::string incident; // or empty
    std::string host;     // or empty
    std::optional<base::JobId> job;
    std::string job_name; // or empty
    std::string text;
    std::string to_json() const;
    bool operator==(const TimelineEntry&) const = default;
};

// A job that has ended.
struct EndedJobStatus {
    std::string name; // as its user knew it
    std::uint32_t uid = 0;
    std::string how{}; // in the resource manager's terms, "FAILED, exit status 3"; empty: it has forgotten it
    base::Time start{}, end{};        // 0: it never started, or that is no longer known
    std::vector<std::string> nodes{}; // that it ran on
    bool operator==(const EndedJobStatus&) const = default;
};

// GET /v1/explain?job=
struct JobExplanation {
    base::Time time{};
    std::optional<JobStatus> job;           // none: it has ended
    std::optional<EndedJobStatus> ended;    // none: it has not, or its owner is not known
    std::optional<IntervalStatus> interval; // between its checkpoints; none: their cost is not known
    std::optional<ProgramStatus> program;   // none: the job is gone, or from an older restartd
    // What `railplan --explain --json` prints (sched/explain_json.hpp) with "notes" and "expected_start", or
    // {"kind":"unknown","sentence":…}.
    boost::json::object placement;
    std::optional<UsedLinksStatus> links;  // none: it has no hosts now, or they are not shown
    std::vector<IncidentStatus> incidents; // open, and affecting it
    std::vector<TimelineEntry> timeline;

    static base::Expected<JobExplanation> from_json(std::string_view body);
    std::string to_json() const;
};

// GET /v1/explain?host=
struct HostExplanation {
    base::Time time{};
    std::optional<HostStatus> host;        // none: neither in the resource manager nor in the fabric file
    std::optional<UsedLinksStatus> links;  // none: no such host, or they are not shown
    std::vector<IncidentStatus> incidents; // open, with it as the culprit
    std::vector<TimelineEntry> timeline;

    static base::Expected<HostExplanation> from_json(std::string_view body);
    std::string to_json() const;
};

// An action as the journal keeps it.
struct StoredAction {
    std::string id;
    std::string incident;
    std::string kind;
    std::string text;
    std::string state; // "pending", "done", "failed"
    std::uint32_t tries = 0;
    base::Time created{};
    std::optional<base::Time> finished;
    std::string error; // of the last try
    bool operator==(const StoredAction&) const = default;
};

// GET /v1/history
struct History {
    std::vector<TimelineEntry> timeline; // newest last
    std::vector<StoredAction> actions;   // newest last

    static base::Expected<History> from_json(std::string_view body);
    std::string to_json() const;
};

} // namespace restart
