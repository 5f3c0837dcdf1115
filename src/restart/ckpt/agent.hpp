// The job's end of nodewatchd's socket: one JSON object per line, a request and its answer.
//
//   {"op":"hello","job":12,"epoch":1,"rank":0}   {"ok":true,"interval_s":37.5,"save_by":null}
//   {"op":"due"}                                 {"interval_s":37.5,"save_by":1700000009.0,"incident":"i-7"}
//   {"op":"mark","rank":3,"steps":120,"seconds":5.1,"waited_s":1.7}  {"ok":true}
//   {"op":"commit","step":400,"path":"…","cost_s":0.8,"bytes":123}   {"ok":true}
//
// An agent that does not answer must not slow the job down: connecting never blocks, the wait for an answer
// is short, and after a failure the next attempt is delayed: by 1 s if the failure was immediate (no
// listener), else by a delay that doubles up to 30 s (it hangs).
#pragma once

#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "base/unique_fd.hpp"
#include "restart/wire/job_lines.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace restart::ckpt {

struct AgentState {
    std::optional<double> interval_s; // null until restartd has sent it to the agent
    std::optional<double> save_by_s;  // seconds since 1970: save before then, the job will be requeued
    std::string incident;             // the reason, "i-7"; "" if there is none
};

class Agent {
public:
    static constexpr std::chrono::milliseconds usual_patience{100};

    // `restart`: the job's restart count, by which restartd identifies the incarnation. `patience`: how long
    // due() waits for an answer.
    Agent(std::string socket, base::JobId job, std::uint32_t restart,
          std::chrono::milliseconds patience = usual_patience);

    // The current state; waits `patience` at most. Errors: Code::unavailable (no agent, delayed, or no answer
    // in time), Code::denied (it refused), Code::input (not the protocol), Code::usage (the path is too long
    // for a socket).
    base::Expected<AgentState> due();

    // Reports a commit; waits 1 s at most. Errors: as due.
    base::Expected<void> committed(JobCommit commit);

    // Reports step marks. Errors: as due.
    base::Expected<void> marked(const JobMark& mark);

    // Reports what the job's railrun runs, or that it has ended, and returns what it must do. Errors: as due.
    base::Expected<RunAdvice> run(const JobRun& run);
    base::Expected<void> over();

    // Reports that this process guards the job's processes on this host, and returns what must happen to
    // them. Errors: as due.
    base::Expected<KeepAdvice> keep(const JobKeep& keep);

    // Reports the result of the job's preflight, and returns whether the job may start. Errors: as due.
    base::Expected<PreflightAdvice> preflight(const Preflight& preflight);

    // This start of the job ends soon: requests its processes on this host to save within this time. Errors:
    // as due.
    base::Expected<void> save(base::Duration within);

private:
    using Clock = std::chrono::steady_clock;

    base::Expected<std::string> ask(const std::string& line, Clock::time_point deadline);
    base::Expected<void> connect(Clock::time_point deadline);
    base::Expected<std::string> exchange(const std::string& line, Clock::time_point deadline);
    base::Error give_up(base::Error error);

    std::string socket_;
    base::JobId job_;
    std::uint32_t restart_;
    std::chrono::milliseconds patience_;
    base::UniqueFd fd_;
    std::string pending_; // bytes after the last answer's line
    Clock::time_point asked_{}, not_before_{};
    std::chrono::seconds pause_{1};
    std::string last_trouble_;
};

} // namespace restart::ckpt
