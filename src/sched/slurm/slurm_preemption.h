/* Which jobs a gang replaces: of the jobs that Slurm lets it preempt, those that lose the least work
 * (sched/preempt.hpp). Needs write locks on jobs, which slurmctld holds when it asks for a start. */
#ifndef RAILYARD_SCHED_SLURM_PREEMPTION_H
#define RAILYARD_SCHED_SLURM_PREEMPTION_H

#include "slurm_inside.h"

#include "sched/slurm/advisor.h"

struct preemption {
    rail_takeover* takeover; /* the nodes, and the reason */
    List jobs;               /* of job_record_t: those offered by Slurm that are preempted */
};

/* `question`: with what is free now. `candidates`: Slurm's list. False: no opinion, no job need be
 * preempted, or all together do not make room. Otherwise preemption_free() it. */
bool preemption_choose(rail_advisor* advisor, const struct rail_question* question, bitstr_t* nodes,
                       List candidates, struct preemption* found);
void preemption_free(struct preemption* preemption);

/* Records the choice for the job, in case Slurm carries it out. */
void preemption_note(const job_record_t* job, const struct preemption* preemption);

/* The job's nodes are taken from it: if it was preempted as recorded, this is recorded in its comment and
 * that of the job that replaces it. */
void preemption_ended(job_record_t* job);

#endif
