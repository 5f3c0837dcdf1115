// Is a job over? What LSF's bjobs(1) says of it, for a process within another job: as squeue.hpp asks Slurm.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "base/lsf_exit.hpp"

#include <string>
#include <string_view>

namespace restart::ckpt {

// The state of `job` in LSF ("RUN", "PEND": a requeued one, too), "" when it has ended or LSF has forgotten
// it, as `asker`, a job that runs, sees it. What shows as EXIT may only be on its way back to PEND (brequeue,
// the loss of its host): it has ended once it has shown so for `settles`, which is waited for. A command gets
// `patience`. Errors (Code::unavailable): no bjobs, no answer in time or one that cannot be read, and an LSF
// without the asker.
base::Expected<std::string> state_in_lsf(base::JobId job, base::JobId asker,
                                         base::Duration patience = base::Duration(10'000),
                                         base::Duration settles = base::lsf_exit_settles);

// The state in what `bjobs -w JOB` has printed, which ended with this status; "": there is no such job.
base::Expected<std::string> read_bjobs(std::string_view printed, int status, base::JobId job);

} // namespace restart::ckpt
