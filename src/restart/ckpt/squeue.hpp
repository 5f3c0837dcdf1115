// Is a job over? What squeue(1) says of it, for a process within another job of the same user and cluster.
//
// No shell is involved, and nothing of the environment that changes what squeue shows. An answer in which the
// asking job itself is missing is none: squeue asked another cluster, or about another user.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/job_id.hpp"

#include <string>
#include <string_view>

namespace restart::ckpt {

// The state of `job` in Slurm's queue ("RUNNING", "PENDING": a requeued one, too), "" when it is in it no
// more, as `asker`, a job that runs, sees it. Waits `patience` at most. Errors (Code::unavailable): no
// squeue, no answer in time, or one without the job.
base::Expected<std::string> state_in_queue(base::JobId job, base::JobId asker,
                                           base::Duration patience = base::Duration(10'000));

// The same from squeue's lines "JOB STATE".
base::Expected<std::string> read_queue(std::string_view lines, base::JobId job, base::JobId asker);

} // namespace restart::ckpt
