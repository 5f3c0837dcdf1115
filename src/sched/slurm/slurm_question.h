/* What the plugins that choose nodes, of every Slurm release, take from a job and from Slurm's tables for the
 * advisor. Needs slurm_inside.h before it, and locks on jobs and nodes. */
#ifndef RAILYARD_SCHED_SLURM_QUESTION_H
#define RAILYARD_SCHED_SLURM_QUESTION_H

#include "sched/slurm/advisor.h"

#include <stdbool.h>
#include <stdint.h>

/* The advisor's log: Slurm's, with the plugin's type in front. */
void question_log(enum rail_level level, const char* text);

/* Gives the advisor the names in Slurm's node table if they have changed since the last time. Nodes may be
 * created and deleted at any time, so ask before each question: it costs a comparison of the table's
 * pointers, and at most once a second one of the names, which finds a new node in a deleted one's place.
 * Call it on any thread. */
void question_map_nodes(rail_advisor* advisor);

/* Fills the fields of a question that come from the flags of the job and from what restartd wrote of it, and
 * the moments that a wish needs. The question refers to the job's admin_comment. */
void question_take_hints(const job_record_t* job, struct rail_question* question);

/* How many of the candidates are to stay free for restarts, after what other idle nodes make up for; `ever`:
 * other nodes, idle or not. 0 for a restart: it is what they are kept for. */
uint32_t question_spare_floor(rail_advisor* advisor, const job_record_t* job, const bitstr_t* candidates,
                              bool ever);

/* The required nodes of a job as question->required wants them, from xmalloc; NULL: none. */
uint8_t* question_required(const job_record_t* job);

/* Whether Slurm may give the job cores that others have, too. */
bool question_shares_cores(const job_record_t* job);

/* Whether a job without flags is packed beside others, small ones too ([placement] pack). Not where Slurm was
 * told to spread jobs, or lets them share cores: there in use already is no better than idle. */
bool question_packs(const rail_advisor* advisor, const job_record_t* job);

/* Whether the job is being submitted: what can never run must be refused now, while a job that was accepted
 * once is not declared impossible later, since what forbids it then (a fabric file that changed, nodes that a
 * restart avoids) may pass, and Slurm would hold it for ever. */
bool question_is_submission(const job_record_t* job);

#endif
