/* sched/advise/advisor.hpp for the plugins inside slurmctld, in C: no Slurm type goes in, no exception comes
 * out. "No opinion" is an answer everywhere: then Slurm decides alone; the log says so once.
 *
 * All functions may be called from any thread. Node numbers are indices into Slurm's node table. */
#ifndef RAILYARD_SCHED_SLURM_ADVISOR_H
#define RAILYARD_SCHED_SLURM_ADVISOR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rail_advisor rail_advisor;
typedef struct rail_plan rail_plan;

enum rail_level { RAIL_LOG_ERROR, RAIL_LOG_INFO };
typedef void (*rail_log)(enum rail_level level, const char* text);

/* Reads railyard.conf and the fabric file and starts to watch it. NULL: could not, and the log says why. */
rail_advisor* rail_advisor_open(rail_log log);
void rail_advisor_close(rail_advisor* advisor);

/* Read railyard.conf again, soon. */
void rail_advisor_reload(rail_advisor* advisor);

/* Slurm's node table: `count` names, NULL for a hole. Copied; call it again whenever the table changed. */
void rail_advisor_set_nodes(rail_advisor* advisor, const char* const* names, uint32_t count);

#define RAIL_NEVER INT64_MAX
enum rail_span { RAIL_SPAN_ANY, RAIL_SPAN_UNIT, RAIL_SPAN_POD, RAIL_SPAN_FABRIC, RAIL_SPAN_DOMAIN };
#define RAIL_OUTER_SEGMENTS 3

/* What a job's flags ask of its placement. */
struct rail_hints {
    enum rail_span span;
    int64_t span_wait;        /* seconds for which the span is a wish; RAIL_NEVER: it is hard */
    uint32_t segment, spares; /* nodes; 0: none */
    bool anew;                /* --rail-keep=no */
    uint32_t outer_segments[RAIL_OUTER_SEGMENTS]; /* of nested segments, up to the first 0 */
    bool segmented;           /* some segment has more than one node */
};

/* From the railyard part of its admin_comment, and for flags that this does not name from RAIL_SPAN and so on
 * among its `count` variables ("NAME=value"). Values that are not allowed count as none: submission refused
 * them. */
void rail_hints_of(const char* admin_comment, const char* const* variables, uint32_t count,
                   struct rail_hints* hints);

struct rail_question {
    uint32_t least, wanted; /* nodes, spares among them: at least, and at best */
    struct rail_hints hints;
    int64_t now, eligible; /* seconds: this moment, and when the job could first have run; for wishes */
    uint32_t spare_floor;  /* of the nodes that are free, so many stay free; see rail_advisor_spare_floor */
    uint32_t node_count;
    const int64_t* free_at;  /* [node_count] 0 = free now, RAIL_NEVER = not a candidate, else seconds */
    const uint8_t* required; /* [node_count] non-zero = must be in; NULL: none */
    const uint8_t* mixed;    /* [node_count] non-zero = other jobs are on it, too; NULL: does not matter */
    /* The job's, where restartd wrote which nodes it had before (sched/slurm/admin_comment.hpp), and how
     * often it was requeued. NULL: nothing is known; else read only by rail_advisor_plan. */
    const char* admin_comment;
    uint32_t restarts;
};

/* Whether jobs of one node get advice, too ([placement] pack). */
bool rail_advisor_packs_all(const rail_advisor* advisor);

/* How many healthy nodes are to stay free for restarts beside those `count` nodes, which are free already and
 * count as far as they are in the fabric; 0: none, or no fabric is known. */
uint32_t rail_advisor_spare_floor(rail_advisor* advisor, const uint32_t* free_nodes, uint32_t count);

/* The ranks of `count` nodes, distinct and in any order: ranks[i] of nodes[i] is the number of its unit among
 * those of these nodes above 16 bits of its place in that unit, both in the order in which ranks are given
 * (sched/ask/rank_order.hpp). False: not all of them are in the fabric, or a unit has more than 65,536, or
 * there is too little memory; `ranks` is as it was. */
bool rail_advisor_ranks(rail_advisor* advisor, const uint32_t* nodes, uint32_t count, uint32_t* ranks);

/* A plan is a list of node sets to offer to Slurm, best first. NULL: no opinion. Free it, before the advisor
 * is closed. What it costs is bounded (sched/search/budget.hpp), for all its attempts together, and for all
 * plans of one second (question->now) together. */
rail_plan* rail_advisor_plan(rail_advisor* advisor, const struct rail_question* question);
void rail_plan_free(rail_plan* plan);

/* Whether the job has to wait when no attempt is taken: its span or its segments are not to be broken, or too
 * few nodes would stay free. Otherwise Slurm may place it as it likes. */
bool rail_plan_waits(const rail_plan* plan);

struct rail_attempt {
    const uint32_t* nodes; /* ascending; of a plan valid until the next call on it */
    uint32_t count;
    int64_t earliest; /* no start before this moment; 0 = now */
    const char* why;
};
/* False: there are no more. */
bool rail_plan_next(rail_plan* plan, struct rail_attempt* attempt);

/* Whether the job might be had although none of the attempts seen so far was taken: there are more, or others
 * than those were not tried, or memory ran out. Not to be taken for "never". */
bool rail_plan_undecided(const rail_plan* plan);

/* Why the wanted nodes cannot be had now; "" while they can. */
const char* rail_plan_unfit(const rail_plan* plan);

/* A running job whose place that of a question may take. */
struct rail_preemptible {
    const uint32_t* nodes; /* [count] that become free when it and all others on them have gone */
    uint32_t count;
    uint32_t number;    /* by which restartd tells when it was last saved */
    uint32_t all_nodes; /* how many it has */
    uint32_t order;     /* while those of a lower one make room, none of a higher one goes */
    int64_t started;    /* seconds */
};

typedef struct rail_takeover {
    struct rail_attempt attempt;
    const uint32_t* jobs; /* [job_count] which of them go, ascending; at least one */
    uint32_t job_count;
} rail_takeover;

/* Whose place the question's job takes (sched/preempt.hpp); question->free_at says what is free now. NULL: no
 * opinion, there is room without, or all of them together make none. Costs no more than a plan. */
rail_takeover* rail_advisor_preempt(rail_advisor* advisor, const struct rail_question* question,
                                    const struct rail_preemptible* jobs, uint32_t count);
void rail_takeover_free(rail_takeover* takeover);

/* A job's admin_comment (NULL: none) with this text as what it says of preemption; from malloc. NULL: for
 * want of memory. */
char* rail_preemption_comment(const char* admin_comment, const char* text);

#ifdef __cplusplus
}
#endif
#endif
