// Carries a plan out on the head of the cluster, step by step. Each step can be cut off: the next run finds
// what is done and goes on. When slurmctld does not start with the new slurm.conf, the former one is put back
// and slurmctld started with it.
#pragma once

#include "base/expected.hpp"
#include "restart/ctl/enable/facts.hpp"
#include "restart/ctl/enable/gather.hpp"
#include "restart/ctl/enable/means.hpp"
#include "restart/ctl/enable/plan.hpp"

namespace restart::enable {

struct Limits {
    base::Duration hosts = std::chrono::minutes(10); // for slurmds to restart, when a person restarts them
    base::Duration controller = std::chrono::minutes(2); // for slurmctld to answer
    bool hosts_checked = false;                          // a person has run --check-host on all hosts
};

// True: all is as wished. False: all that could be done is done, and what is left was said. Errors: it
// stopped; the text says how things stand.
base::Expected<bool> apply(const Ask& ask, const Wish& wish, Facts facts, const Means& means,
                           const Limits& limits);

} // namespace restart::enable
