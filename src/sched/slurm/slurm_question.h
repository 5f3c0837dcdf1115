/* What the node-selecting plugins for all Slurm releases read from a job and from Slurm's tables for the
 * advisor. Needs slurm_inside.h before it, and locks on jobs and nodes. */
#ifndef RAILYARD_SCHED_SLURM_QUESTION_H
#define RAILYARD_SCHED_SLURM_QUESTION_H

#include "sched/slurm/advisor.h"

#include <stdbool.h>
#include <stdint.h>

/* The advisor's log: Slurm's log, prefixed with the plugin's type. */
void question_log(enum rail_level level, const char* text);

/* Passes the names in Slurm's node table to the advisor if they have changed since the last time. Nodes
 * may be created and deleted at any time, so call it before each question: it compares the table's
 * pointers, and at most once a second also the names, to detect a new node in a deleted one's place. May
 * be called on any thread. */
void question_map_nodes(rail_advisor* advisor);

/* Fills the fields of a question that come from the job's flags and from restartd's records about it, and
 * the times needed for a wish. The question refers to the job's admin_comment. */
void question_take_hints(const job_record_t* job, struct rail_question* question);

/* How many of the candidates must stay free for restarts, after subtracting other idle nodes; `ever`:
 * other nodes, idle or not. 0 for a restart: the nodes are kept for it. */
uint32_t question_spare_floor(rail_advisor* advisor, const job_record_t* job, const bitstr_t* candidates,
                              bool ever);

/* The required nodes of a job in the format of question->required, allocated by xmalloc; NULL: none. */
uint8_t* question_required(const job_record_t* job);

/* Whether Slurm may give the job cores that other jobs also have. */
bool question_shares_cores(const job_record_t* job);

/* Whether a job without flags is packed with others, including small ones ([placement] pack). Not if Slurm
 * is configured to spread jobs, or lets them share cores: then a node in use is no better than an idle
 * one. */
bool question_packs(const rail_advisor* advisor, const job_record_t* job);

/* Whether the job is being submitted. Jobs that can never run must be rejected now. A job that was
 * accepted is never declared impossible later, since the reason (a changed fabric file, nodes that a
 * restart avoids) may go away, and Slurm would hold it for ever. */
bool question_is_submission(const job_record_t* job);

#endif
