// What agents report to restartd and its answers: the bodies of POST /v1/report and POST /v1/fabric.
//
// Both ends use these structs, so the protocol is written down once. Reading treats the peer as hostile:
// every list, string and number has a bound (report.cpp), names may contain only characters that are safe in
// a resource manager and on a terminal, and an unknown key is skipped so that a newer agent can talk to an
// older daemon. Times are seconds since the epoch in JSON, durations seconds.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "base/knock.hpp"
#include "base/slurmd_record.hpp"
#include "restart/wire/check_word.hpp"
#include "restart/wire/pace.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// What a finding requests.
enum class Severity {
    info,  // only logged
    warn,  // avoid the host where there is a choice
    evict, // let the job save, then drain the host and requeue
    fatal  // drain and requeue now
};
std::string_view to_string(Severity severity);

// Something that holds on a host now, evaluated over its rule's window by the agent.
struct Finding {
    std::string rule;      // "gpu.throttle.hw_power_brake"
    std::string component; // "gpu3", "mlx5_0:1"
    Severity severity = Severity::info;
    base::Time since{};
    std::string evidence; // a phrase with the numbers
    std::string fault{};  // the name of its class (fault_class.hpp); empty: from an older agent
    bool operator==(const Finding&) const = default;
};

// A checkpoint a job has published.
struct Commit {
    std::uint64_t step = 0;
    std::string path; // absolute
    base::Time committed{};
    double cost_s = 0; // how long the job was paused for it
    std::uint64_t bytes = 0;
    // How long after its beginning it was safe, if the job worked on in the meantime; 0: the job was paused
    // until then. The state in it is older than `committed` by the difference.
    double safe_s = 0;
    double beside_s() const { return safe_s > cost_s ? safe_s - cost_s : 0; }
    bool operator==(const Commit&) const = default;
};

// A job's railrun, which restarts a step of it inside the allocation (railrun(1)), and its present launch.
// Lists of hosts are folded as Slurm folds them.
struct JobRun {
    std::uint32_t launch = 0; // the number of earlier ones in this start of the job
    std::string hosts;        // that it runs on, in the order of ranks
    std::string spares;       // the allocation's other hosts that it may use
    bool ended = false;       // its step has ended, and railrun decides what follows
    bool operator==(const JobRun&) const = default;
};

// Errors (Code::input): an invalid list of hosts.
base::Expected<void> check(const JobRun& run);

// What NCCL's own watchers in the job's processes report about its communicators (RAS, probe/nccl_ras.hpp).
struct NcclWord {
    std::uint64_t asked = 0;           // number of the query: a different one is newer
    std::vector<std::string> troubles; // a phrase each; empty: all is well
    std::vector<RasSign> here{};       // processes on the agent's own host that it names
    bool operator==(const NcclWord&) const = default;
};

inline constexpr std::size_t most_nccl_troubles = 8, longest_nccl_trouble = 256;

// What a GPU's driver reported about a fault in a process of the job: an XID caused by programs
// (xid_words.hpp).
struct ProgramFault {
    std::string gpu; // the finding's component, "gpu3"
    std::uint32_t xid = 0;
    std::uint32_t process = 0; // its number on the host
    std::string text;          // the driver's text; empty: there was none
    bool operator==(const ProgramFault&) const = default;
};

inline constexpr std::size_t longest_fault = 160; // of its text

// Whether something on the host can end a job's processes there (rail-lsf-run(1)), and has.
enum class Kept {
    no,   // nothing can
    here, // and they run
    ended // they were ended, because the host was cut off
};

// A job that talks to the host's agent. `uid` is the peer of the job's socket: the daemon accepts the entry
// only if that user owns the job.
struct JobReport {
    base::JobId id{};
    std::uint32_t epoch = 0; // number of the job's restarts: a report about an earlier start is stale
    std::uint32_t uid = 0;
    std::optional<Commit> ckpt; // the last one
    std::optional<JobRun> run{};
    std::optional<NcclWord> nccl{}; // none: no answer, or one from another user's processes
    std::vector<RankPace> ranks{};  // its processes here with step marks, in the window of Report::pace
    // How long before this report a process here completed its first step. Sent until restartd has answered
    // about the job; again later when another process of this start completes its first one.
    std::optional<double> stepped_s{};
    Kept kept = Kept::no;
    std::optional<Preflight> preflight{}; // of this start; until its script runs and restartd has answered
    std::optional<ProgramFault> fault{};  // the first here in this start; until an answer includes the job
    bool operator==(const JobReport&) const = default;
};

// What restartd asks an agent to look at: whether anything answers at this place. Either a host whose own
// agent is silent, or one known to be alive, for comparison.
struct LookRequest {
    std::uint64_t number = 0; // of the query
    std::string host;
    std::string address; // where its resource manager's daemon accepts connections: a name or an address
    std::uint32_t port = 0;
    bool operator==(const LookRequest&) const = default;
};

base::Expected<void> check(const LookRequest& look); // errors (Code::input): a target no agent would look at

// What the agent saw there. Repeated in each report until restartd stops asking.
struct Sight {
    std::uint64_t number = 0; // LookRequest's
    std::string host;         // LookRequest's
    base::Knocked saw = base::Knocked::unknown;
    bool operator==(const Sight&) const = default;
};

// In one answer or report.
inline constexpr std::size_t most_looks = 16;

// Where a host looks on its own when restartd does not answer, to find out whether it is the host that is cut
// off.
struct Witness {
    std::string host;
    std::string address; // LookRequest's
    std::uint32_t port = 0;
    bool operator==(const Witness&) const = default;
};

base::Expected<void> check(const Witness& witness); // errors as for a look

inline constexpr std::size_t most_witnesses = 8;

// A port that the fabric file and the host name differently: only GUIDs connect the two.
struct PortName {
    std::string port;   // as findings name it: "mlx5_0:1"
    std::string listed; // in the file: "HCA-1:1"
    bool operator==(const PortName&) const = default;
};

inline constexpr std::size_t most_port_names = 64;

// POST /v1/report: one heartbeat of nodewatchd.
struct Report {
    std::string host;                      // NodeName in the resource manager
    std::string boot_id;                   // of the kernel; a new one means the host was rebooted
    std::vector<std::string> not_watching; // what it cannot watch and why, a sentence each
    std::string fabric; // digest of the fabric file that some findings depend on; empty: none does
    std::vector<PortName> port_names{};       // as far as they differ
    std::optional<base::SlurmdRecord> slurmd; // none: it does not run, or has no spank_rail
    std::vector<Finding> findings;            // the complete set of what holds now
    std::vector<JobReport> jobs;
    bool leaving = false;        // its last report: the host is being shut down or rebooted in order
    bool looks = false;          // it looks at other hosts on request; not from an older release
    std::vector<Sight> sights{}; // what it saw of them
    bool tells = false;          // it sends its signals on request (signals.hpp); not from an older release
    // The pace of its last window, while jobs work there; repeated until there is another one.
    std::optional<HostPace> pace{};
    bool wants_witnesses = false; // it has none, or has had them for long

    // Errors (Code::input) name the field: "findings[0].severity: …".
    static base::Expected<Report> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const Report&) const = default;
};

// The exact body of a report that repeats the last one on this connection.
inline constexpr std::string_view report_as_before = R"({"v":1,"as_before":true})";

// What railrun must do: end this launch, if it has not ended, and restart the step on these hosts.
struct RunOrder {
    std::uint32_t launch = 0; // the one to end; for any other railrun does nothing
    std::string hosts;        // of the next one, in the order of ranks
    std::string incident;     // why
    bool lost = false;        // a host of this launch is: processes that wait for it never end on their own
    bool operator==(const RunOrder&) const = default;
};

base::Expected<void> check(const RunOrder& order); // errors: as for a run

// What the daemon requests of one job on the reporting host.
struct JobReply {
    base::JobId id{};
    std::uint32_t epoch = 0;
    double interval_s = 0;               // between two checkpoints
    std::optional<base::Time> save_by;   // save now; the job is moved at this time at the latest
    std::optional<std::string> incident; // why
    std::optional<RunOrder> order{};
    bool suspected =
        false; // a host of its launch may be lost: if the launch ended, the cause may be elsewhere
    // For a preflight that asks for a requeue: it is requeued, or why not.
    PreflightAdvice preflight{};
    bool operator==(const JobReply&) const = default;
};

// A job's processes on the reporting host are left over from an earlier start: they must be ended.
struct JobEnd {
    base::JobId id{};
    std::uint32_t epoch = 0; // JobReport's
    std::string why;         // a phrase for display
    bool operator==(const JobEnd&) const = default;
};

struct Reply {
    std::vector<JobReply> jobs;
    std::vector<LookRequest> looks{}; // only for an agent that looks
    bool tell = false;                // request for its signals, once; only for an agent that sends them
    std::vector<JobEnd> ends{};
    std::vector<Witness> witnesses{}; // only on request

    static base::Expected<Reply> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const Reply&) const = default;
};

struct HostLinks {
    std::uint32_t links_up = 0;
    std::uint32_t links_total = 0;
    bool operator==(const HostLinks&) const = default;
};

// A link of fabric.json that a sweep saw down at one end at least. An end is a host with its port
// ("mlx5_3:1") or a switch with the port's number.
struct DownLink {
    std::string a, a_port;
    std::string b, b_port;
    bool operator==(const DownLink&) const = default;
};

inline constexpr std::size_t most_down_links = 4'096;

// Something that holds on a link of fabric.json now, found by fabricwatchd over both ends, named as in
// DownLink. For a rail of a unit `a` is the unit and `a_port` "rail 3", for the file "fabric", "file"; no
// `b`.
struct LinkFinding {
    std::string rule;                   // "link.symbol_errors"
    Severity severity = Severity::info; // or warn: which end is to blame is not known
    base::Time since{};
    std::string evidence; // a phrase with the numbers, and the end that shows it
    std::string a, a_port, b, b_port;
    int rail = -1;         // -1: on none
    std::string unit, pod; // empty: in none
    std::string hosts;     // whose traffic goes through it or waits, folded; incomplete if very many
    bool operator==(const LinkFinding&) const = default;
};

// "leaf1 port 5 - n003 mlx5_0:1", "unit su1 rail 3".
std::string name_of(const LinkFinding& finding);

inline constexpr std::size_t most_link_findings = 256;

// How far the last sweep over the counters of ports came.
struct CounterCoverage {
    std::uint32_t ports = 0;    // that have counters and can be read
    std::uint32_t answered = 0; // of these
    double took_s = 0;
    bool operator==(const CounterCoverage&) const = default;
};

// POST /v1/fabric: one sweep of fabricwatchd, or what changed between two of them. A sweep names only hosts
// with links_up < links_total; a host of fabric.json that it did not see has links_up 0.
struct FabricReport {
    std::map<std::string, HostLinks> hosts;
    std::uint32_t hosts_seen = 0;
    bool complete = false; // false: the sweep ended early and proves nothing
    // Not a sweep: the present links of the hosts named, as their leaves report them; nothing about others. A
    // host whose links are all up again is named, too.
    bool changes = false;
    double age_s = 0;                   // how long before it was sent its reading of the fabric began
    std::vector<DownLink> links_down{}; // as far as it saw, at most most_down_links
    // The complete set of what holds on links, the worst first; none: not included, as in a report of changes
    // or from an older fabricwatchd.
    std::optional<std::vector<LinkFinding>> findings{};
    std::optional<CounterCoverage> counters{}; // none in the same cases

    static base::Expected<FabricReport> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const FabricReport&) const = default;
};

} // namespace restart
