/* Whose place a gang takes: of the jobs that Slurm lets it preempt, those that lose the least work
 * (sched/preempt.hpp). Needs write locks on jobs, as slurmctld holds them when it asks for a start. */
#ifndef RAILYARD_SCHED_SLURM_PREEMPTION_H
#define RAILYARD_SCHED_SLURM_PREEMPTION_H

#include "slurm_inside.h"

#include "sched/slurm/advisor.h"

struct preemption {
    rail_takeover* takeover; /* the nodes, and why */
    List jobs;               /* of job_record_t, of those that Slurm offered: those that go */
};

/* `question`: with what is free now. `candidates`: Slurm's list. False: no opinion, or nobody need go, or all
 * of them together do not make room. Otherwise preemption_free() it. */
bool preemption_choose(rail_advisor* advisor, const struct rail_question* question, bitstr_t* nodes,
                       List candidates, struct preemption* found);
void preemption_free(struct preemption* preemption);

/* What was chosen for the job, in case Slurm does it. */
void preemption_note(const job_record_t* job, const struct preemption* preemption);

/* The job's nodes are taken from it: when it was preempted as was noted, its own comment and that of the job
 * it makes room for say so. */
void preemption_ended(job_record_t* job);

#endif
