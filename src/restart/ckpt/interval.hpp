// How long to compute between two checkpoints, from what a checkpoint costs and how often the job fails.
//
// Symbols: M = the job's mean time between failures, d = blocking cost of one checkpoint (how long the job
// stands still for it, not how long it takes to be safe), t = work between the end of one checkpoint and the
// start of the next (d is not part of t), D = time from a failure until its restart begins (detection,
// decision), R = time that the restart takes, in which the job may fail again. Failures are exponential. All
// times are seconds, as a type.
//
// The share of the time that is work is E(t) = t / [(M + D) e^(R / M) (e^((t + d) / M) - 1)]. D and R are
// factors of their own there: they make every interval worse by the same share and move the optimum nowhere.
// Nor does it move, but for terms of second order, when a checkpoint is written beside the work and is safe
// only F later: a failure in that time costs one period more, F / M of the time at any t. So the optimum is a
// matter of d and M alone; D, R and F tell what it is worth.
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

// What a failure costs beside the work since the last checkpoint.
struct FailureCost {
    Seconds downtime{}; // D
    Seconds restart{};  // R, and F with it
};

// E(t), 0 to 1: 0 for an interval of 0, or where no work is ever finished. Errors: also Code::input for an
// interval or a time of the failure below zero.
base::Expected<double> efficiency(Seconds interval, Seconds cost, Seconds mtbf, const FailureCost& failure);

// Limits on the interval that a job is given; 0 <= least <= most. The defaults are those of railyard.conf(5),
// [checkpoint] min_interval and max_interval; a job without an agent, which cannot ask for them, uses these.
struct IntervalBounds {
    Seconds least{10.0};
    Seconds most{43200.0};
};

// restartd has the exact one; librailckpt(3) promises Young's, which a user can check by hand.
enum class Formula { exact, young };

// The interval of a job, by either formula, held within the bounds: what restartd reports to agents and what
// librailckpt uses where no agent is. Also Code::input when the bounds cross.
base::Expected<Seconds> checkpoint_interval(Seconds cost, Seconds mtbf, const IntervalBounds& bounds = {},
                                            Formula formula = Formula::exact);

} // namespace restart
