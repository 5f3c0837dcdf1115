// What a job and its host's agent say to each other on the job socket: lines of JSON, a request and its answer.
//
//   {"op":"hello","job":12,"epoch":1,"rank":0}   {"ok":true,"interval_s":37.5,"save_by":null,"incident":null}
//   {"op":"due"}                                 {"interval_s":37.5,"save_by":1700000009.0,"incident":"i-7"}
//   {"op":"commit","step":400,"path":"/…","cost_s":0.8,"bytes":123}     {"ok":true}
//
// Anything else is answered {"ok":false,"error":"…"} and changes nothing. Lines carry no version: librailckpt
// lives in a job's container and may be years older or newer than the agent, so members are only ever added.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace restart {

inline constexpr std::size_t longest_job_line = 8192;    // bytes of a request; a path has at most 4095
inline constexpr std::size_t longest_job_answer = 65536; // bytes

// Comes first; the job's later lines are about this start of it.
struct JobHello {
    std::uint32_t job = 0;
    std::uint32_t epoch = 0; // SLURM_RESTART_COUNT
    std::uint32_t rank = 0;
};

// How often to checkpoint, and whether to save now?
struct JobDue {};

// A checkpoint was published.
struct JobCommit {
    std::uint64_t step = 0;
    std::string path; // absolute
    double cost_s = 0;
    std::uint64_t bytes = 0;
};

using JobRequest = std::variant<JobHello, JobDue, JobCommit>;

// What a job is to know. Without an answer from restartd yet there is no interval.
struct Advice {
    std::optional<double> interval_s;
    std::optional<base::Time> save_by;
    std::optional<std::string> incident;
    bool operator==(const Advice&) const = default;
};

// Lines with their newline, and what they say. Errors (Code::input) name the field.
std::string to_line(const JobRequest& request);
base::Expected<JobRequest> read_job_request(std::string_view line);

std::string hello_answer(const Advice& advice);
std::string due_answer(const Advice& advice);
std::string commit_answer();
std::string job_refusal(std::string_view why);

// Errors: also Code::denied, the agent's refusal.
base::Expected<Advice> read_advice(std::string_view line); // of hello and due
base::Expected<void> read_done(std::string_view line);     // of commit

} // namespace restart
