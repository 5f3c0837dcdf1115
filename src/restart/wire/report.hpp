// What agents report to restartd and what it answers: the bodies of POST /v1/report and POST /v1/fabric.
//
// Both ends use these structs, so the protocol is written down once. Reading treats the peer as hostile:
// every list, string and number has a bound (report.cpp), names carry only characters that are safe in
// a resource manager and on a terminal, and an unknown key is passed over so that a newer agent can talk to
// an older daemon. Times are seconds since the epoch in JSON, durations seconds.
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

// What a finding asks for.
enum class Severity {
    info,  // worth a line
    warn,  // avoid the host where there is a choice
    evict, // let the job save, then drain the host and requeue
    fatal  // drain and requeue now
};
std::string_view to_string(Severity severity);

// Something that holds on a host now, judged over its rule's window by the agent.
struct Finding {
    std::string rule;      // "gpu.throttle.hw_power_brake"
    std::string component; // "gpu3", "mlx5_0:1"
    Severity severity = Severity::info;
    base::Time since{};
    std::string evidence; // a phrase with the numbers
    std::string fault{};  // the name of its class (fault_class.hpp); empty: of an older agent
    bool operator==(const Finding&) const = default;
};

// A checkpoint a job has published.
struct Commit {
    std::uint64_t step = 0;
    std::string path; // absolute
    base::Time committed{};
    double cost_s = 0; // how long the job stood still for it
    std::uint64_t bytes = 0;
    // How long after it was begun it was safe, where the job worked on meanwhile; 0: it stood still until
    // then. The state in it is older than `committed` by the difference.
    double safe_s = 0;
    double beside_s() const { return safe_s > cost_s ? safe_s - cost_s : 0; }
    bool operator==(const Commit&) const = default;
};

// A job's railrun, which starts a step of it again inside the allocation (railrun(1)), and its present
// launch. Lists of hosts are folded as Slurm folds them.
struct JobRun {
    std::uint32_t launch = 0; // how many came before it in this start of the job
    std::string hosts;        // that it runs on, in the order of ranks
    std::string spares;       // the allocation's other hosts that it may use
    bool ended = false;       // its step has ended, and railrun decides what follows
    bool operator==(const JobRun&) const = default;
};

// Errors (Code::input): a list of hosts that is none.
base::Expected<void> check(const JobRun& run);

// What NCCL's own watchers in the job's processes say of its communicators (RAS, probe/nccl_ras.hpp).
struct NcclWord {
    std::uint64_t asked = 0;           // number of the question: another one is newer
    std::vector<std::string> troubles; // a phrase each; none: all is well
    std::vector<RasSign> here{};       // processes on the agent's own host that it names
    bool operator==(const NcclWord&) const = default;
};

inline constexpr std::size_t most_nccl_troubles = 8, longest_nccl_trouble = 256;

// What a GPU's driver said of a fault in a process of the job: an XID that programs cause (xid_words.hpp).
struct ProgramFault {
    std::string gpu; // the finding's component, "gpu3"
    std::uint32_t xid = 0;
    std::uint32_t process = 0; // its number on the host
    std::string text;          // in the driver's words; empty: it had none
    bool operator==(const ProgramFault&) const = default;
};

inline constexpr std::size_t longest_fault = 160; // of its text

// Whether somebody on the host can end a job's processes there (rail-lsf-run(1)), and has.
enum class Kept {
    no,   // nobody can
    here, // and they run
    ended // they were ended, as the host was cut off
};

// A job that speaks to the host's agent. `uid` is the peer of the job's socket: the daemon believes the
// entry only when that user owns the job.
struct JobReport {
    base::JobId id{};
    std::uint32_t epoch = 0; // how often the job was restarted: a report about an earlier start is stale
    std::uint32_t uid = 0;
    std::optional<Commit> ckpt; // the last one
    std::optional<JobRun> run{};
    std::optional<NcclWord> nccl{}; // none: nobody answers, or somebody else's processes do
    std::vector<RankPace> ranks{}; // its processes here, in the window of Report::pace; those that make marks
    // How long before this report a process here had made its first step. Said until restartd has answered
    // about the job; later again when another process of this start makes its first one.
    std::optional<double> stepped_s{};
    Kept kept = Kept::no;
    std::optional<Preflight> preflight{}; // of this start; until it has begun its script, and is told
    std::optional<ProgramFault> fault{};  // the first here in this start; until an answer speaks of the job
    bool operator==(const JobReport&) const = default;
};

// What restartd asks an agent to look at: whether anything answers at this place. A host whose own agent is
// silent, or one that is known to live, to compare with.
struct LookRequest {
    std::uint64_t number = 0; // of the question
    std::string host;
    std::string address; // where its resource manager's daemon takes connections: a name or an address
    std::uint32_t port = 0;
    bool operator==(const LookRequest&) const = default;
};

base::Expected<void> check(const LookRequest& look); // errors (Code::input): what no agent would look at

// And what the agent saw there. It is said in each report until restartd asks no more.
struct Sight {
    std::uint64_t number = 0; // LookRequest's
    std::string host;         // likewise
    base::Knocked saw = base::Knocked::unknown;
    bool operator==(const Sight&) const = default;
};

// In one answer or report.
inline constexpr std::size_t most_looks = 16;

// Where a host looks by itself when restartd does not answer, to learn whether it is the host that is cut
// off.
struct Witness {
    std::string host;
    std::string address; // LookRequest's
    std::uint32_t port = 0;
    bool operator==(const Witness&) const = default;
};

base::Expected<void> check(const Witness& witness); // errors as for a look

inline constexpr std::size_t most_witnesses = 8;

// A port that the fabric file calls otherwise than the host does: only GUIDs join the two.
struct PortName {
    std::string port;   // as findings name it: "mlx5_0:1"
    std::string listed; // in the file: "HCA-1:1"
    bool operator==(const PortName&) const = default;
};

inline constexpr std::size_t most_port_names = 64;

// POST /v1/report: one heartbeat of nodewatchd.
struct Report {
    std::string host;                      // NodeName in the resource manager
    std::string boot_id;                   // of the kernel; a new one says the host was rebooted
    std::vector<std::string> not_watching; // what it cannot watch and why, a sentence each
    std::string fabric; // digest of the fabric file that some findings rest on; empty: of none
    std::vector<PortName> port_names{};       // as far as they differ
    std::optional<base::SlurmdRecord> slurmd; // none: it does not run, or has no spank_rail
    std::vector<Finding> findings;            // the complete set of what holds now
    std::vector<JobReport> jobs;
    bool leaving = false;        // its last word: the host is being shut down or rebooted in order
    bool looks = false;          // it looks at other hosts when it is asked to; not one of an older release
    std::vector<Sight> sights{}; // what it saw of them
    bool tells = false;          // it tells its signals when it is asked to (signals.hpp); likewise
    // How it got on in its last window, while jobs work there; said until there is another one.
    std::optional<HostPace> pace{};
    bool wants_witnesses = false; // it has none, or has had them for long

    // Errors (Code::input) name the field: "findings[0].severity: …".
    static base::Expected<Report> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const Report&) const = default;
};

// The body, to the byte, of a report that says what the last one on this connection said.
inline constexpr std::string_view report_as_before = R"({"v":1,"as_before":true})";

// What railrun is to do: end this launch, if it has not ended, and start the step again on these hosts.
struct RunOrder {
    std::uint32_t launch = 0; // the one to end; with any other one railrun does nothing
    std::string hosts;        // of the next one, in the order of ranks
    std::string incident;     // why
    bool lost = false;        // a host of this launch is: what waits for it never ends by itself
    bool operator==(const RunOrder&) const = default;
};

base::Expected<void> check(const RunOrder& order); // errors: as for a run

// What the daemon wants from one job on the reporting host.
struct JobReply {
    base::JobId id{};
    std::uint32_t epoch = 0;
    double interval_s = 0;               // between two checkpoints
    std::optional<base::Time> save_by;   // save now; the job is moved at this time at the latest
    std::optional<std::string> incident; // why
    std::optional<RunOrder> order{};
    bool suspected =
        false; // a host of its launch may be lost: that the launch ended may not be its own fault
    // To a preflight that asks for a requeue: it is requeued, or why it is not.
    PreflightAdvice preflight{};
    bool operator==(const JobReply&) const = default;
};

// A job's processes on the reporting host are left over from a start that is over: they are to be ended.
struct JobEnd {
    base::JobId id{};
    std::uint32_t epoch = 0; // JobReport's
    std::string why;         // a phrase for people
    bool operator==(const JobEnd&) const = default;
};

struct Reply {
    std::vector<JobReply> jobs;
    std::vector<LookRequest> looks{}; // only for an agent that does so
    bool tell = false;                // its signals, once; likewise
    std::vector<JobEnd> ends{};
    std::vector<Witness> witnesses{}; // only when they are wanted

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

// Something that holds on a link of fabric.json now, judged by fabricwatchd over both ends, named as in
// DownLink. Of a rail of a unit `a` is the unit and `a_port` "rail 3", of the file "fabric", "file"; no `b`.
struct LinkFinding {
    std::string rule;                   // "link.symbol_errors"
    Severity severity = Severity::info; // or warn: which end is to blame is not known
    base::Time since{};
    std::string evidence; // a phrase with the numbers, and the end that shows it
    std::string a, a_port, b, b_port;
    int rail = -1;         // -1: of none
    std::string unit, pod; // empty: of none
    std::string hosts;     // whose traffic goes through it or waits, folded; not all of very many
    bool operator==(const LinkFinding&) const = default;
};

// "leaf1 port 5 - n003 mlx5_0:1", "unit su1 rail 3".
std::string name_of(const LinkFinding& finding);

inline constexpr std::size_t most_link_findings = 256;

// How far the last sweep over the counters of ports came.
struct CounterCoverage {
    std::uint32_t ports = 0;    // that have counters and can be asked
    std::uint32_t answered = 0; // of these
    double took_s = 0;
    bool operator==(const CounterCoverage&) const = default;
};

// POST /v1/fabric: one sweep of fabricwatchd, or what changed between two of them. A sweep names only hosts
// with links_up < links_total; a host of fabric.json that it did not see has links_up 0.
struct FabricReport {
    std::map<std::string, HostLinks> hosts;
    std::uint32_t hosts_seen = 0;
    bool complete = false; // false: the sweep ended early and is no witness
    // No sweep: how the links of the hosts named are now, by the word of their leaves; nothing about others.
    // A host whose links are all up again is named, too.
    bool changes = false;
    double age_s = 0;                   // how long before it was sent its reading of the fabric began
    std::vector<DownLink> links_down{}; // as far as it saw, at most most_down_links
    // The complete set of what holds on links, the worst first; none: it says nothing about that, as a report
    // of changes or of an older fabricwatchd.
    std::optional<std::vector<LinkFinding>> findings{};
    std::optional<CounterCoverage> counters{}; // none likewise

    static base::Expected<FabricReport> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const FabricReport&) const = default;
};

} // namespace restart
