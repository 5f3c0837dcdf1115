/* Whether the records of this process are laid out as the headers say that this plugin was built with. Slurm
 * compares releases to the last number when it loads a plugin, and no more: a member that a distribution's
 * patch or another branch put into job_record_t moves all that follow, and then our numbers are another's.
 * Needs slurm_inside.h before it. */
#ifndef RAILYARD_SCHED_SLURM_LAYOUT_H
#define RAILYARD_SCHED_SLURM_LAYOUT_H

#include <stdbool.h>

/* Told once in slurmctld's log when it is false; then nothing of this plugin may look at a job any more. The
 * node table, once it is built: to be asked in slurmctld at its start. */
bool layout_of_nodes(void);

/* The job of a question, at the first one that has a job to look at, and again after each answer that could
 * not be given: members from the first to the last that we use, by their magic numbers and by what values
 * they may have. Reads nothing through a pointer that does not point to memory, and writes nothing. Needs
 * locks on jobs and nodes. Costs a comparison once it is known. */
bool layout_of_job(const job_record_t* job);

#endif
