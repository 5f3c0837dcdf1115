// A job's settings for its checkpoints: from the program or the command line, else from the environment.
//
//   RAIL_CKPT_DIR       checkpoint directory          RAIL_CKPT_SOCKET     nodewatchd's job socket
//   SLURM_JOB_ID        job number                    SLURM_RESTART_COUNT  how often it was restarted
//   SLURM_CLUSTER_NAME  whose job numbers these are   RAIL_CKPT_TAKE_OVER  the owner to fence off, a job
//   RAIL_JOB_ID         under LSF: job number         RAIL_RESTART_COUNT   under LSF: how often restarted
//   RAIL_CKPT_LAUNCH    "JOB RESTART EPOCH" of a launch by railrun, for RAIL_CKPT_DIR
//   RAIL_CKPT_KEEP      committed checkpoints to keep (2)
//   RAIL_CKPT_INTERVAL  interval without an agent     RAIL_CKPT_MTBF       job MTBF without an agent (1d)
//
// Times are seconds ("90") or carry a unit ("90s", "2h"). An empty variable counts as unset.
#pragma once

#include "base/expected.hpp"
#include "restart/ckpt/interval.hpp"
#include "restart/ckpt/work.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace restart::ckpt {

// Unset: use the environment.
struct Given {
    std::optional<std::string> dir, socket;
    std::optional<Work> job, take_over;
    std::optional<std::int64_t> restart;
    std::optional<std::uint64_t> keep;
    std::optional<Seconds> interval, mtbf;
    bool read_only = false;
};

struct Options {
    std::string dir;    // never ""
    std::string socket; // "": no agent
    Work job{};
    std::uint32_t restart = 0;
    std::string cluster{};                 // "": unknown
    std::optional<Work> take_over{};       // the current owner of the directory
    std::optional<std::uint32_t> launch{}; // this launch's epoch, from railrun
    unsigned keep = 2;
    std::optional<Seconds> interval;
    Seconds mtbf{86400};
    std::chrono::milliseconds patience{100}; // how long to wait for the agent's answer
    bool read_only = false;
    bool lsf = false; // a job of LSF
};

using Getenv = std::function<const char*(const char*)>;

// Errors (Code::usage) name the variable, or the option by its name in railckpt_options.
base::Expected<Options> resolve(const Given& given, const Getenv& getenv);

// The value of RAIL_CKPT_LAUNCH for the processes of a launch; and the reverse: the epoch in the text if it
// is for this start of this job, as jobs submitted by a step inherit the variable.
std::string launch_text(const Work& job, std::uint32_t restart, std::uint32_t epoch);
std::optional<std::uint32_t> launch_epoch(std::string_view text, const Work& job, std::uint32_t restart);

// "90" or "1.5h", above zero. Error: Code::usage.
base::Expected<Seconds> parse_time(std::string_view text);

} // namespace restart::ckpt
