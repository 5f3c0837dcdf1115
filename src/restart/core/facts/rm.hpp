// What the resource manager reports, free of any vendor's types: its vocabulary, its configuration, the
// rights its accounting gives users, and its nodes and jobs at one moment. restart/rm fills it; times are the
// resource manager's.
#pragma once

#include "base/clock.hpp"
#include "base/host_state.hpp"
#include "base/job_id.hpp"
#include "sched/ask/hints.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

// A job's owner, as far as it decides who may see the job.
struct JobOwner {
    std::uint32_t uid = 0;
    std::string account; // it is charged to; empty: none
    bool operator==(const JobOwner&) const = default;
};

// The resource manager's own terms for use in messages: what an operator types, what a user did. Each
// implementation supplies its own.
struct RmWords {
    std::string controller = "the resource manager";   // who decides: "slurmctld"
    std::string tool = "the resource manager's tools"; // what changes a host without us: "scontrol"
    // Why nothing can start an interactive allocation again.
    std::string interactive = "an interactive allocation cannot be requeued, only batch jobs can";
    // Why no job's flags are known.
    std::string no_flags = "the resource manager does not know the flag";
    // Who may see everything, who may change hosts (by its accounting), and who may see the jobs of an
    // account.
    std::string readers = "operators of its accounting";
    std::string administrators = "administrators of its accounting";
    std::string coordinators = "coordinators of its account";
    // What hides jobs, nodes and their past from others.
    std::string private_jobs = "jobs are private";
    std::string private_nodes = "nodes are private";
    std::string private_events = "events are private";
    bool operator==(const RmWords&) const = default;
};

// What it hides from users who are not operators (Slurm: PrivateData).
struct RmPrivacy {
    bool jobs = false;   // of other users
    bool nodes = false;  // every node
    bool events = false; // what happened to nodes
    // Coordinators do not see their accounts' jobs: labels decide, which only it knows (Slurm:
    // MCSParameters).
    bool by_label = false;
    bool operator==(const RmPrivacy&) const = default;
};

// The relevant part of its configuration: how soon it notices a missing host, whether Railyard's plugins are
// in it, and what it hides from its users.
struct RmConfig {
    // Silence after which it sets a host down itself; 0: never. None: not reported (LSF).
    std::optional<base::Duration> declares_down_after{};
    bool takes_flags = false;   // knows the flags of jobs; without this --restart=auto is never seen
    bool chooses_nodes = false; // by Railyard
    // What is only partly installed: a sentence for each missing part, with its effect and the fix.
    std::vector<std::string> missing;
    std::optional<RmPrivacy> hides{}; // none: from an older release's journal
    bool reboots = false;             // hosts when asked (Slurm: RebootProgram)
    bool operator==(const RmConfig&) const = default;
};

enum class RmLevel {
    none,
    reads, // sees everything (Slurm: Operator)
    acts   // and may change hosts (Slurm: Administrator)
};

// The rights its accounting gives a user beyond those of every user (Slurm: AdminLevel and coordinators,
// sacctmgr(1)).
struct RmUser {
    RmLevel level = RmLevel::none;
    std::vector<std::string> accounts; // that it coordinates and whose jobs it may therefore see
    bool operator==(const RmUser&) const = default;
};

// How a host's daemon of the resource manager reacts when it is asked.
enum class Life {
    unknown, // not reached, which may be the network, or could not be asked
    answers, // it is alive
    mute     // its host accepts connections, but nothing there answers
};

struct RmNode {
    std::string name;
    std::string state;           // in the resource manager's terms, for display: "IDLE+DRAIN"
    bool down = false;           // no job can run there and none does
    bool drain = false;          // takes no new job
    bool not_responding = false; // does not answer the resource manager's ping
    bool away = false;      // powered down, being powered up, or rebooted, as planned in the resource manager
    bool rebooting = false; // a reboot was requested and is not over
    bool occupied = false;  // jobs run on it, or are being ended
    bool maintenance = false; // as planned in the resource manager
    bool automatic =
        false;          // down because the resource manager found it not responding, not by anyone's decision
    std::string reason; // of the drain or the down, empty if none
    std::string set_by{}; // who set it: "slurmctld", "NHC", "alice"; empty: we did, or not known
    // How far it may be given to jobs, if it responds; none: from an older release's state.
    std::optional<base::HostState> use;
    // Where its daemon accepts connections; 0: not known.
    std::string address{};
    std::uint16_t port = 0;
    bool operator==(const RmNode&) const = default;
};

enum class JobPhase {
    pending,
    running,
    suspended,
    completing, // its processes are being ended; a requeued job passes through this state
    ended       // will not run again
};

// One part of a heterogeneous job: it has its own id and hosts, but starts, ends and is requeued only with
// the others.
struct RmComponent {
    base::JobId id{};
    std::string name; // "12+1"
    std::vector<std::string> nodes;
    bool operator==(const RmComponent&) const = default;
};

// How a restartable job ended: not ended by its user or its time limit, nor lost with a host that the
// resource manager knew to be lost.
struct RmFailure {
    std::uint32_t code =
        0; // exit status of its script, or the number of the signal that ended it + 128; 0: success
    base::Time ended{};
    std::vector<std::string> nodes; // it ran on; for a heterogeneous job those of all components
    // By a signal that its user may have sent, which LSF's lists do not show: not a failure of its own, but
    // the effect of a fault if one came then. ResourceManager::perform() finds out before it is restarted.
    bool signalled = false;
    bool step_failed = false; // one of its steps failed, whatever its script returned (Slurm)
    // How is not known: its record is gone (RmJob::forgotten). Its user may have cancelled it.
    bool unknown = false;
    bool operator==(const RmFailure&) const = default;
    bool is_its_own() const { return code != 0 && !signalled; } // else it counts only if a fault came then
};

// The resource manager no longer has a record of a job that ended while restartd was away or was gone before
// it could be requeued. What it was submitted with was kept, and can be submitted again (SubmitAgain).
struct Forgotten {
    std::string why_not; // why it cannot; empty: it can
    bool asking = false; // its accounting is still being asked how it ended
    bool operator==(const Forgotten&) const = default;
};

// The start of a job that another, submitted job replaces.
struct FormerStart {
    base::JobId job{};
    std::uint32_t epoch = 0;
    bool operator==(const FormerStart&) const = default;
};

// What is started and ended as one: a job, a task of an array with a record of its own, the tasks of an array
// that wait together, or a heterogeneous job with all its components, under its leader's id.
struct RmJob {
    base::JobId id{};
    std::string name;    // as its user knows it: "12", "12_3", "12_[4-9%2]"
    std::string title{}; // given by its user (--job-name); all tasks of an array share it
    std::uint32_t uid = 0;
    std::string account; // it is charged to; empty: none
    JobPhase phase = JobPhase::pending;
    std::vector<std::string> nodes; // allocated, in the resource manager's order; empty while pending
    std::uint32_t node_count = 0;
    std::uint32_t restarts = 0;               // number of its requeues: the epoch of its present start
    base::Time start{};                       // of the present or next start
    base::Time begin{};                       // a pending job does not start earlier
    std::optional<base::Time> ends{};         // by its time limit, while it runs; none: no limit
    bool interactive = false;                 // an allocation without a script, which nothing can restart
    bool requeue = false;                     // the resource manager may start it again
    std::optional<bool> restart;              // --restart=auto is true, never is false
    std::optional<std::uint32_t> restart_max; // --restart-max
    sched::RestartOn restart_on;              // --restart-on
    bool no_kill = false;                     // it survives the loss of a host; false: not known
    bool unlaunched = false;                  // held by the resource manager: its hosts could not start it
    std::string ckpt_dir;                     // --ckpt-dir
    // Where restartd chooses the hosts of gangs (LSF): the queue that it is in, and the one in which it waits
    // until they are chosen and to which it returns as soon as it runs. Empty elsewhere.
    std::string queue, home;
    // Where gangs wait held (LSF, [lsf] gangs_wait): `resumed`: no hold is on it, so LSF may start it where
    // it can; `held`: its user set the hold.
    bool resumed = false, held = false;
    std::vector<std::string> excluded;    // hosts it must not use
    std::vector<std::string> required{};  // and those its user requested by name (Slurm)
    std::string why;                      // why it is pending, in the resource manager's terms
    std::vector<RmComponent> components;  // of a heterogeneous job; else empty
    std::optional<RmFailure> failure;     // only when it has ended, and may be restarted
    std::optional<Forgotten> forgotten{}; // only when it has ended
    std::optional<FormerStart> again{};   // restartd submitted it to replace that one
    // For restartd's own jobs that check an idle host (CheckHost): the host, and whether the job is in the
    // way of a waiting one that could use the host.
    std::string checks{};
    bool wanted = false;
    bool operator==(const RmJob&) const = default;
};

// restartd chooses its hosts.
inline bool is_gang(const RmJob& job) {
    return !job.home.empty();
}
// The start that a report is about, by its own count. LSF has no count of starts, so the job's count on its
// host and restartd's count of what it saw differ. Reports of a gang are about what runs there now.
inline std::uint32_t start_of(const RmJob& job, std::uint32_t reported) {
    return is_gang(job) ? job.restarts : reported;
}
// It is where the resource manager may start it.
inline bool is_released(const RmJob& job) {
    return is_gang(job) && (job.queue != job.home || job.resumed);
}

// The name, or the number if no name was read (a state of an older release).
inline std::string name_of(base::JobId id, const std::string& name) {
    return name.empty() ? to_string(id) : name;
}
inline JobOwner owner_of(const RmJob& job) {
    return {job.uid, job.account};
}
inline std::string name_of(const RmJob& job) {
    return name_of(job.id, job.name);
}

struct RmSnapshot {
    std::vector<RmNode> nodes;        // all
    std::vector<RmJob> jobs;          // that have not ended, or may be restarted (RmFailure)
    std::optional<RmConfig> config{}; // as last read; none if it could not be read yet
};

} // namespace restart
