// What step() learns by the way: which incidents are faults of hosts, how long repairs and restarts take, and
// what the interval between a job's checkpoints follows from.
//
// A fault is a host that was lost, or had a finding that asks to leave it, while it was in use: not one that
// a person or another program had drained, was off or rebooted as planned, or is still out of use because of
// an earlier fault; not what a job did wrong (such findings do not ask to leave a host); and not the same
// again within an hour. What takes several hosts at once, and agents that fall silent together, count as one
// fault of what hosts share. Time counts while hosts may be given to jobs and are heard of, by a clock that
// runs: a step of it, or a pause of the daemon, counts as nothing.
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
void learn_fault(StepContext& ctx, Incident& incident); // when it is first decided on
// It was another's: what the host shares with others failed.
void forget_fault(StepContext& ctx, const Incident& incident);
// A job that this incident moved runs again since `began`.
void learn_restart(StepContext& ctx, const Incident& incident, base::Time stopped, base::Time began);
// A process of the job had made its first step so long ago. The first of each start of the job, and of each
// launch of its railrun, counts, unless this daemon was started, stood still or had its clock set since that
// start: then the times do not belong together.
void learn_start(StepContext& ctx, JobState& job, double seconds_ago);
void learn_passing(StepContext& ctx); // at each Tick
void refresh_interval(const State& state, JobState& job, const Policy& policy);

// What is believed now.
FailureRate failure_rate(const State& state, const Policy& policy);
base::Duration host_mtbf(const State& state,
                         const Policy& policy); // that rate's mean alone: it costs far less
RepairTime repair_time(const State& state, const Policy& policy, base::Time now);

// How the interval of a job comes about.
struct IntervalChoice {
    Seconds host_mtbf{}; // of one host
    Seconds mtbf{};      // of the job: host_mtbf / its hosts
    Seconds cost{},
        beside{};        // what a checkpoint costs: the job stands still, and its way to safety beside it
    FailureCost failure; // mean times seen; 0 where none was
    ProgramTime program; // a part of failure.restart: from the job's start until it works
    Seconds exact{}, young{}, daly{};
    double worth = 0, worth_young = 0, worth_daly = 0; // efficiency of each
    Seconds chosen{};                                  // the exact one, within bounds
    std::string_view bound; // the key that holds it there, or "safe": the next begins when the last is safe
};
// None until a checkpoint has shown its cost.
std::optional<IntervalChoice> choose_interval(const State& state, const JobState& job, const Policy& policy);

} // namespace restart
