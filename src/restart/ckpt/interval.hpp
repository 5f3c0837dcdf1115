// How long to compute between two checkpoints, from what a checkpoint costs and how often the job fails.
//
// Symbols: M = the job's mean time between failures, d = blocking cost of one checkpoint, t = work between
// the end of one checkpoint and the start of the next (d is not part of t), D = downtime before a restart
// begins, R = time the restart itself takes. Failures are exponential. All times are seconds, as a type.
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

// J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974:
// t = sqrt(2 d M).
base::Expected<Seconds> young_interval(Seconds cost, Seconds mtbf);

// J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22(3),
// 2006, eq. 37: t = sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + (d / 2M) / 9) - d for d < 2M, else t = M.
base::Expected<Seconds> daly_interval(Seconds cost, Seconds mtbf);

// The exact optimum: the t that solves e^((t + d) / M) (1 - t / M) = 1, that is
// t = M (1 + W0(-e^(-d / M - 1))). Relative error below 1e-9 for d / M from 1e-12 up.
base::Expected<Seconds> exact_interval(Seconds cost, Seconds mtbf);

// The share of time, 0..1, that is useful work when a job checkpoints every t > 0:
// t / [(M + D) e^(R / M) (e^((t + d) / M) - 1)].
base::Expected<double> efficiency(Seconds interval, Seconds cost, Seconds mtbf, Seconds downtime,
                                  Seconds restart);

// Limits on the interval that a job is given; 0 <= least <= most.
struct IntervalBounds {
    Seconds least{10.0};
    Seconds most{43200.0};
};

// The interval to tell a job: the exact optimum, held within the bounds. Also Code::input when the bounds
// cross.
base::Expected<Seconds> checkpoint_interval(Seconds cost, Seconds mtbf, const IntervalBounds& bounds);

} // namespace restart
