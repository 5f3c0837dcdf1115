// Carries a plan out on the cluster's head node, step by step. Each step can be interrupted: the next run
// finds what is done and continues. If slurmctld does not start with the new slurm.conf, the former one is
// restored and slurmctld started with it.
#pragma once

#include "base/expected.hpp"
#include "restart/ctl/enable/facts.hpp"
#include "restart/ctl/enable/gather.hpp"
#include "restart/ctl/enable/means.hpp"
#include "restart/ctl/enable/plan.hpp"

namespace restart::enable {

struct Limits {
    base::Duration hosts = std::chrono::minutes(10); // for slurmds to restart, if an administrator does it
    base::Duration controller = std::chrono::minutes(2); // for slurmctld to answer
    bool hosts_checked = false;                          // an administrator has run --check-host on all hosts
};

// True: everything is as wanted. False: everything possible is done, and what remains was reported. Errors:
// it stopped; the text describes the situation.
base::Expected<bool> apply(const Ask& ask, const Wish& wish, Facts facts, const Means& means,
                           const Limits& limits);

} // namespace restart::enable
