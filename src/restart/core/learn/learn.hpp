// What step() learns in passing: which incidents are faults of hosts, how long repairs and restarts take, and
// what decides the interval between a job's checkpoints.
//
// A fault is a host that was lost, or had a finding that asks to leave it, while it was in use. Not counted:
// hosts that an operator or another program had drained, that were off or rebooted as planned, or that are
// still out of use because of an earlier fault; what a job did wrong (such findings do not ask to leave a
// host); and the same fault again within an hour. What affects several hosts at once, and agents that fall
// silent together, count as one fault of what hosts share. Time counts while hosts may be given to jobs and
// are heard of, by a running clock: a step of it, or a pause of the daemon, does not count.
#pragma once

#include "base/clock.hpp"
#include "restart/ckpt/interval.hpp"
#include "restart/core/estimate/rates.hpp"
#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <optional>
#include <string_view>

namespace restart {

class StepContext;

// Internal to restart/core.
void learn_fault(StepContext& ctx, Incident& incident); // at its first decision
// It was not the host's: something it shares with others failed.
void forget_fault(StepContext& ctx, const Incident& incident);
// A job that this incident moved runs again since `began`.
void learn_restart(StepContext& ctx, const Incident& incident, base::Time stopped, base::Time began);
// A process of the job completed its first step this long ago. The first of each start of the job, and of
// each launch of its railrun, counts, unless this daemon was started, was paused or had its clock set since
// that start: then the times do not belong together.
void learn_start(StepContext& ctx, JobState& job, double seconds_ago);
void learn_passing(StepContext& ctx); // at each Tick
void refresh_interval(const State& state, JobState& job, const Policy& policy);

// The present estimates.
FailureRate failure_rate(const State& state, const Policy& policy);
base::Duration host_mtbf(const State& state,
                         const Policy& policy); // only that rate's mean: it costs far less
RepairTime repair_time(const State& state, const Policy& policy, base::Time now);

// How the interval of a job is derived.
struct IntervalChoice {
    Seconds host_mtbf{};      // of one host
    Seconds mtbf{};           // of the job: host_mtbf / its hosts
    Seconds cost{}, beside{}; // what a checkpoint costs: the job's pause, and the time until it is safe
    FailureCost failure;      // mean times seen; 0 if there are none
    ProgramTime program;      // a part of failure.restart: from the job's start until it works
    Seconds exact{}, young{}, daly{};
    double worth = 0, worth_young = 0, worth_daly = 0; // efficiency of each
    Seconds chosen{};                                  // the exact one, within bounds
    std::string_view bound; // the key that limits it, or "safe": the next begins when the last is safe
};
// None until a checkpoint has shown its cost.
std::optional<IntervalChoice> choose_interval(const State& state, const JobState& job, const Policy& policy);

} // namespace restart
