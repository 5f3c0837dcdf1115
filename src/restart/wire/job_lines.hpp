// The messages of a job and its host's agent on the job socket: lines of JSON, a request and its answer.
//
//   {"op":"hello","job":12,"epoch":1,"rank":0}   {"ok":true,"interval_s":37.5,"save_by":null,"incident":null}
//   {"op":"due"}                                 {"interval_s":37.5,"save_by":1700000009.0,"incident":"i-7"}
//   {"op":"commit","step":400,"path":"/…","cost_s":0.8,"bytes":123}     {"ok":true}
//   {"op":"run","launch":0,"hosts":"n[1-4]","spares":"n5","ended":false}
//                                {"ok":true,"heard":true,"suspected":false,"order":null}
//   {"op":"mark","rank":3,"steps":120,"seconds":5.1,"waited_s":1.7,"first":true}     {"ok":true}
//   {"op":"over"}                                                       {"ok":true}
//   {"op":"keep","ended":false}                          {"ok":true,"end":null,"cut_off":null}
//   {"op":"ucx","job":12,"epoch":1,"rank":3,"paths":[{"over":"rc_mlx5/mlx5_3:1","endpoints":31}]} {"ok":true}
//   {"op":"stats","job":12,"epoch":1,"uid":1000}                        {"ok":true,"port":40321}
//   {"op":"save","within_s":10}                                         {"ok":true}
//   {"op":"preflight","without":["n3"],"requeue":true,"words":[…]}      {"ok":true,"requeued":true}
//
// Anything else is answered {"ok":false,"error":"…"} and changes nothing. Lines carry no version: librailckpt
// lives in a job's container and may be years older or newer than the agent, so members are only ever added.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace restart {

inline constexpr std::size_t longest_job_line = 32768;   // bytes of a request; two lists of hosts
inline constexpr std::size_t longest_job_answer = 65536; // bytes

// Comes first; the job's later lines are about this start of it.
struct JobHello {
    base::JobId job{};
    std::uint32_t epoch = 0; // number of the job's restarts
    std::uint32_t rank = 0;
};

// How often to checkpoint, and whether to save now?
struct JobDue {};

// A checkpoint was published.
struct JobCommit {
    std::uint64_t step = 0;
    std::string path;  // absolute
    double cost_s = 0; // how long the job was paused for it
    std::uint64_t bytes = 0;
    double safe_s = 0; // Commit::safe_s
};

// The job's railrun gives up, or its step has ended well: from now on the job no longer restarts its own
// step.
struct JobOver {};

// What a process of the job has seen of its UCX endpoints so far (librailucx.so); each line replaces the
// previous one, until the connection ends. No hello is needed first: the sender takes no checkpoints.
struct JobUcx {
    // Endpoints with the same transports: "rc_mlx5/mlx5_3:1", several as "cma/memory+tcp/eth0", or "unknown".
    struct Path {
        std::string over;
        std::uint64_t endpoints = 0;
        std::string to{}; // the peer of one of them: an address, or "rank 5"; empty: not known for any
        bool operator==(const Path&) const = default;
    };
    base::JobId job{};
    std::uint32_t epoch = 0;
    std::uint32_t rank = 0;
    std::string tls, devices; // UCX_TLS and UCX_NET_DEVICES of its environment
    std::string unseen;       // why UCX cannot be inspected there; empty: it can
    std::vector<Path> paths;
    // Endpoints that failed since the process began, those of them whose peer no longer answered, and those
    // that could not be made; and the last failure as text.
    std::uint64_t failed = 0, timeouts = 0, refused = 0;
    std::string last;
    std::uint64_t resent = 0; // segments that TCP retransmitted, over all connections of the process
    std::string resent_to;    // the peer to which most of the last ones went
    bool operator==(const JobUcx&) const = default;
};

// Requests that statistics of the job's UCX be received at a UDP port of loopback, until the connection ends.
// Sent by root (spank_rail in slurmstepd); only datagrams of the job's user, `uid`, are accepted.
struct JobStats {
    base::JobId job{};
    std::uint32_t epoch = 0;
    std::uint32_t uid = 0;
};

// Step marks of one process: since its last mark, the number of steps, the time they took, and the part of it
// spent waiting for others (railckpt_mark).
struct JobMark {
    std::uint32_t rank = 0;
    std::uint64_t steps = 0;
    double seconds = 0, waited_s = 0;
    bool first = false; // the process has sent none before: its first step ended `seconds` ago
};

// This client watches the job's processes on this host, and ends them on request.
struct JobKeep {
    bool ended = false; // they were ended, because the host was cut off
};

// The job's own launcher knows that its start is about to end (rail-lsf-run, by LSF's signals): until one has
// saved, each of its processes on this host that asks gets the request to save within this time.
struct JobSave {
    double within_s = 0;
};

// JobRun (wire/report.hpp): what the job's railrun runs now, and the question what to do. Preflight
// (wire/check_word.hpp): the result of the job's preflight, and the question whether to start.
using JobRequest = std::variant<JobHello, JobDue, JobCommit, JobRun, JobOver, JobUcx, JobStats, JobMark,
                                JobKeep, JobSave, Preflight>;

// The answer for a job. There is no interval before restartd has answered.
struct Advice {
    std::optional<double> interval_s;
    std::optional<base::Time> save_by;
    std::optional<std::string> incident;
    bool operator==(const Advice&) const = default;
};

// The answer for railrun.
struct RunAdvice {
    bool heard = false;     // restartd knows the run as given in the question
    bool suspected = false; // as in JobReply
    std::optional<RunOrder> order;
    bool operator==(const RunAdvice&) const = default;
};

// The answer for the keeper of a job's processes: why to end them, a phrase; none: they may run.
struct KeepAdvice {
    std::optional<std::string> end;     // the job has left this host
    std::optional<std::string> cut_off; // this host is cut off: the job may start elsewhere at any moment
    bool operator==(const KeepAdvice&) const = default;
};

// Lines with their newline, and their content. Errors (Code::input) name the field.
std::string to_line(const JobRequest& request);
base::Expected<JobRequest> read_job_request(std::string_view line);

std::string hello_answer(const Advice& advice);
std::string due_answer(const Advice& advice);
std::string commit_answer(); // also of over, ucx, mark and save
std::string stats_answer(std::uint16_t port);
std::string run_answer(const RunAdvice& advice);
std::string keep_answer(const KeepAdvice& advice);
std::string preflight_answer(const PreflightAdvice& advice);
std::string job_refusal(std::string_view why);

// Errors: also Code::denied, the agent's refusal.
base::Expected<Advice> read_advice(std::string_view line); // of hello and due
base::Expected<void> read_done(std::string_view line);     // of commit, over, ucx, mark and save
base::Expected<RunAdvice> read_run_advice(std::string_view line);
base::Expected<KeepAdvice> read_keep_advice(std::string_view line);
base::Expected<PreflightAdvice> read_preflight_advice(std::string_view line);

} // namespace restart
