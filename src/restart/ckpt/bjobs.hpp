// Is a job over? The answer of LSF's bjobs(1), for a process within another job: like squeue.hpp for Slurm.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "base/lsf_exit.hpp"

#include <string>
#include <string_view>

namespace restart::ckpt {

// The state of `job` in LSF ("RUN", "PEND": also a requeued one), "" when it has ended or LSF has forgotten
// it, as seen by `asker`, a running job. A job shown as EXIT may be about to return to PEND (brequeue, the
// loss of its host): it has ended once it is still EXIT after `settles`; the call waits for that. A command
// gets `patience`. Errors (Code::unavailable): no bjobs, no answer in time or an unreadable one, and an LSF
// that does not know the asker.
base::Expected<std::string> state_in_lsf(base::JobId job, base::JobId asker,
                                         base::Duration patience = base::Duration(10'000),
                                         base::Duration settles = base::lsf_exit_settles);

// The state in the output of `bjobs -w JOB`, which ended with this status; "": there is no such job.
base::Expected<std::string> read_bjobs(std::string_view printed, int status, base::JobId job);

} // namespace restart::ckpt
