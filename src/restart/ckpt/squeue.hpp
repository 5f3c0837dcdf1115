// Is a job over? The answer of squeue(1), for a process within another job of the same user and cluster.
//
// No shell is involved, and no environment variables that change squeue's output. An answer without the
// asking job is invalid: squeue asked another cluster, or about another user.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/job_id.hpp"

#include <string>
#include <string_view>

namespace restart::ckpt {

// The state of `job` in Slurm's queue ("RUNNING", "PENDING": also a requeued one), "" if it is no longer in
// it, as seen by `asker`, a running job. Waits `patience` at most. Errors (Code::unavailable): no squeue, no
// answer in time, or one without the asker.
base::Expected<std::string> state_in_queue(base::JobId job, base::JobId asker,
                                           base::Duration patience = base::Duration(10'000));

// The same from squeue's lines "JOB STATE".
base::Expected<std::string> read_queue(std::string_view lines, base::JobId job, base::JobId asker);

} // namespace restart::ckpt
