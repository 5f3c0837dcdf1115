/* When each node can take a job, as far as known without deciding: a lower bound. Slurm's own plugin
 * decides; a wrong estimate costs an attempt, never a wrong allocation. */
#ifndef RAILYARD_SCHED_SLURM_OCCUPANCY_H
#define RAILYARD_SCHED_SLURM_OCCUPANCY_H

#include "slurm_inside.h"

#include <stdint.h>

enum occupancy_rule {
    OCCUPANCY_EVER, /* every candidate counts as free: could the job ever run? */
    OCCUPANCY_NOW,  /* nodes in use are not candidates */
    OCCUPANCY_SURE, /* the same, but not a lower bound: all CPUs of the job must have room on `nodes` nodes */
    OCCUPANCY_LATER /* nodes in use are free when their jobs reach their time limits */
};

/* Fills free_at[node_record_count] for `candidates`: 0 = free now, INT64_MAX = not a candidate, else
 * seconds since the epoch. `mixed`, if not NULL: [node_record_count], set to 1 for those that are free now
 * besides the jobs on them. `nodes`: the fewest that the job needs. Returns how many are free now. Linear
 * in nodes and, only if a candidate is in use, in jobs and their resources. Needs read locks on jobs and
 * nodes. */
uint32_t occupancy(const job_record_t* job, bitstr_t* candidates, enum occupancy_rule rule, uint32_t nodes,
                   int64_t* free_at, uint8_t* mixed);

/* Slurm's node Weight: of the candidates that are free now, keeps those with the lowest weights that
 * provide `nodes`. */
void occupancy_cheapest(int64_t* free_at, uint32_t nodes);

#endif
