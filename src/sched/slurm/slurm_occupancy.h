/* When each node can take a job, as far as it can be known without deciding: a lower bound. Slurm's own
 * plugin decides; a wrong guess here costs an attempt, never a wrong allocation. */
#ifndef RAILYARD_SCHED_SLURM_OCCUPANCY_H
#define RAILYARD_SCHED_SLURM_OCCUPANCY_H

#include "slurm_inside.h"

#include <stdint.h>

enum occupancy_rule {
    OCCUPANCY_EVER, /* every candidate counts as free: could the job ever run? */
    OCCUPANCY_NOW,  /* what is taken now is no candidate */
    OCCUPANCY_SURE, /* the same, and no lower bound: all CPUs of the job must have room on `nodes` nodes */
    OCCUPANCY_LATER /* what is taken is free when its jobs reach their time limits */
};

/* Fills free_at[node_record_count] for `candidates`: 0 = free now, INT64_MAX = no candidate, else seconds
 * since the epoch. `mixed`, where it is not NULL: [node_record_count], set to 1 for those that are free now
 * beside the jobs on them. `nodes` is how many the job needs at least. Returns how many are free now. Linear
 * in nodes and, only when a candidate is taken, in jobs and what they hold. Needs read locks on jobs and
 * nodes. */
uint32_t occupancy(const job_record_t* job, bitstr_t* candidates, enum occupancy_rule rule, uint32_t nodes,
                   int64_t* free_at, uint8_t* mixed);

/* Slurm's node Weight: of the candidates that are free now, keeps the cheapest weights that hold `nodes`. */
void occupancy_cheapest(int64_t* free_at, uint32_t nodes);

#endif
