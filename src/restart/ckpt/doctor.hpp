// railckpt doctor: what this job's checkpoints depend on, as it is now. It only looks: nothing is claimed,
// asked of a program or written.
#pragma once

#include "base/cli.hpp"
#include "restart/ckpt/foreign.hpp"

namespace restart::ckpt {

// Prints a row for each: folder, job, kind, claim, socket, interval, request, now. The exit status: 1 where
// something is amiss, and the row says how to mend it. Of the options `blocked` does not count.
int doctor(const base::Cli& cli, const WatchOptions& options);

} // namespace restart::ckpt
