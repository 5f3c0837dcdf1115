// railckpt's commands on a directory whose checkpoints are written by another program (kinds/look.hpp).
#pragma once

#include "base/ckpt_signal.hpp"
#include "base/cli.hpp"
#include "base/json.hpp"
#include "restart/ckpt/kinds/look.hpp"
#include "restart/ckpt/options.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace restart::ckpt {

// From `text`, the value of --kind; else RAIL_CKPT_KIND; else auto. Error: Code::usage.
base::Expected<kinds::Kind> kind_given(const std::string& text);
// `text` of --signal, else RAIL_CKPT_SIGNAL; nothing: what the kind's programs heed. Error: Code::usage.
base::Expected<std::optional<base::CkptSignal>> signal_given(const std::string& text);

// The absolute path of the directory, with links resolved if it exists.
std::string absolute(const std::string& dir);

// Looks for checkpoints of this kind. With kind auto, a directory with railckpt's own files, no files or
// unknown ones has no newest checkpoint. Errors: those of kinds::look.
base::Expected<kinds::Found> look_at(const std::string& dir, const kinds::Kind& kind);

// Whether, as far as is known, another program writes these checkpoints.
bool is_foreign(const kinds::Kind& kind);

// When this start of the job began, from SLURM_JOB_START_TIME; else now.
base::Time start_of_job(base::Time now);

boost::json::object whole_to_json(const kinds::Whole& whole, const kinds::Kind& kind,
                                  const std::string& path);

struct WatchOptions {
    Options job;
    kinds::Kind kind;
    std::optional<Seconds>
        blocked{};                 // by each save, which goes on beside the work; none: it blocks throughout
    std::optional<pid_t> beside{}; // a process with which it ends: the job's script
    std::optional<base::CkptSignal> signal{}; // how the program is asked to save; none: as its kind has it
    std::vector<std::string> marks{};         // job_marks()
    bool json = false;
};

// Follows the directory until SIGTERM, SIGINT, SIGHUP or the end of that process, reports each new whole
// checkpoint to the agent, and asks the program to save when the agent says so. The exit status.
int watch(const base::Cli& cli, const WatchOptions& options);

} // namespace restart::ckpt
