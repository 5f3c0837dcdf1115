/* Whether the records of this process have the layout of the headers with which this plugin was built.
 * Slurm compares full release numbers when it loads a plugin, but no more: a member that a distribution's
 * patch or another branch added to job_record_t moves all following ones, and our offsets are then wrong.
 * Needs slurm_inside.h before it. */
#ifndef RAILYARD_SCHED_SLURM_LAYOUT_H
#define RAILYARD_SCHED_SLURM_LAYOUT_H

#include <stdbool.h>

/* If it is false, this is logged once by slurmctld; then no part of this plugin may access a job any more.
 * This checks the node table, after it is built: call it at the start of slurmctld. */
bool layout_of_nodes(void);

/* Checks the job of a question: the first one that has a job, and again after each check without a result.
 * It checks members from the first to the last that we use, by their magic numbers and valid values. It
 * never reads through an invalid pointer, and writes nothing. Needs locks on jobs and nodes. Costs one
 * comparison once the result is known. */
bool layout_of_job(const job_record_t* job);

#endif
