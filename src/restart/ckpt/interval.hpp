// How long to compute between two checkpoints, from the cost of a checkpoint and the failure rate of the job.
//
// Symbols: M = the job's mean time between failures, d = blocking cost of one checkpoint (how long the job is
// stopped for it, not how long until it is safe), t = work between the end of one checkpoint and the start of
// the next (d is not part of t), D = time from a failure until its restart begins (detection, decision), R =
// duration of the restart, during which the job may fail again. Failures are exponential. All times are
// seconds, as a type.
//
// The share of the time that is work is E(t) = t / [(M + D) e^(R / M) (e^((t + d) / M) - 1)]. D and R are
// separate factors in it: they reduce the share equally for every interval and do not move the optimum.
// Writing a checkpoint concurrently with the work, so that it is safe only F later, does not move it either,
// except for terms of second order: a failure in that time costs one more period, F / M of the time at any t.
// So the optimum depends only on d and M; D, R and F determine the efficiency.
//
// Errors of all functions: Code::input when M is not above zero, a cost is below zero, or a value is not
// finite; the text names the value. All are O(1).
#pragma once

#include "base/expected.hpp"

#include <chrono>
#include <cstdint>

namespace restart {

using Seconds = std::chrono::duration<double>;

// The MTBF of a job on `nodes` nodes that each fail every `node_mtbf`: node_mtbf / nodes; nodes > 0.
base::Expected<Seconds> job_mtbf(Seconds node_mtbf, std::uint32_t nodes);

// J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974: t = sqrt(2
// d M).
base::Expected<Seconds> young_interval(Seconds cost, Seconds mtbf);

// J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22(3),
// 2006, eq. 37: t = sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + (d / 2M) / 9) - d for d < 2M, else M.
base::Expected<Seconds> daly_interval(Seconds cost, Seconds mtbf);

// The exact optimum, the t of the largest E(t): the t that solves e^((t + d) / M) (1 - t / M) = 1, that is t
// = M (1 + W0(-e^(-d / M - 1))). Relative error below 1e-9 for d / M from 1e-12 up.
base::Expected<Seconds> exact_interval(Seconds cost, Seconds mtbf);

// The cost of a failure in addition to the work since the last checkpoint.
struct FailureCost {
    Seconds downtime{}; // D
    Seconds restart{};  // R, including F
};

// E(t), 0 to 1: 0 for an interval of 0, or if no work can ever be finished. Errors: also Code::input for an
// interval or a failure time below zero.
base::Expected<double> efficiency(Seconds interval, Seconds cost, Seconds mtbf, const FailureCost& failure);

// Limits on a job's interval; 0 <= least <= most. The defaults are those of railyard.conf(5), [checkpoint]
// min_interval and max_interval; a job without an agent, which cannot query them, uses these.
struct IntervalBounds {
    Seconds least{10.0};
    Seconds most{43200.0};
};

// restartd uses the exact one; librailckpt(3) promises Young's, which a user can check by hand.
enum class Formula { exact, young };

// The interval of a job, by either formula, limited to the bounds: the one that restartd reports to agents,
// and that librailckpt uses without an agent. Also Code::input when the bounds cross.
base::Expected<Seconds> checkpoint_interval(Seconds cost, Seconds mtbf, const IntervalBounds& bounds = {},
                                            Formula formula = Formula::exact);

} // namespace restart
