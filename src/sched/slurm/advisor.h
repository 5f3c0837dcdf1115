/* sched/advise/advisor.hpp for the plugins inside slurmctld, in C: it takes no Slurm types and throws no
 * exceptions. "No opinion" is always a possible answer: then Slurm decides alone; this is logged once.
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

/* Reads railyard.conf and the fabric file and starts to watch it. NULL: failed; the reason is logged. */
rail_advisor* rail_advisor_open(rail_log log);
void rail_advisor_close(rail_advisor* advisor);

/* Reads railyard.conf again, soon. */
void rail_advisor_reload(rail_advisor* advisor);

/* Slurm's node table: `count` names, NULL for a hole. Copied; call it again whenever the table has
 * changed. */
void rail_advisor_set_nodes(rail_advisor* advisor, const char* const* names, uint32_t count);

#define RAIL_NEVER INT64_MAX
enum rail_span { RAIL_SPAN_ANY, RAIL_SPAN_UNIT, RAIL_SPAN_POD, RAIL_SPAN_FABRIC, RAIL_SPAN_DOMAIN };
#define RAIL_OUTER_SEGMENTS 3

/* What a job's flags request of its placement. */
struct rail_hints {
    enum rail_span span;
    int64_t span_wait;        /* seconds during which the span is a wish; RAIL_NEVER: it is hard */
    uint32_t segment, spares; /* nodes; 0: none */
    bool anew;                /* --rail-keep=no */
    uint32_t outer_segments[RAIL_OUTER_SEGMENTS]; /* of nested segments, up to the first 0 */
    bool segmented;                               /* a segment size is above one node */
};

/* From the railyard part of its admin_comment; flags missing there are taken from RAIL_SPAN and so on
 * among its `count` variables ("NAME=value"). Invalid values are ignored: submission has rejected them. */
void rail_hints_of(const char* admin_comment, const char* const* variables, uint32_t count,
                   struct rail_hints* hints);

struct rail_question {
    uint32_t least, wanted; /* nodes, including spares: minimum, and preferred number */
    struct rail_hints hints;
    int64_t now, eligible; /* seconds: the present, and when the job could first have run; for wishes */
    uint32_t spare_floor;  /* how many of the free nodes must stay free; see rail_advisor_spare_floor */
    uint32_t node_count;
    const int64_t* free_at;  /* [node_count] 0 = free now, RAIL_NEVER = not a candidate, else seconds */
    const uint8_t* required; /* [node_count] non-zero = must be included; NULL: none */
    const uint8_t* mixed;    /* [node_count] non-zero = other jobs are also on it; NULL: irrelevant */
    /* The job's comment, in which restartd records its previous nodes (sched/slurm/admin_comment.hpp), and
     * the number of requeues. NULL: nothing is known; only read by rail_advisor_plan. */
    const char* admin_comment;
    uint32_t restarts;
};

/* Whether jobs of one node get advice, too ([placement] pack). */
bool rail_advisor_packs_all(const rail_advisor* advisor);

/* How many healthy nodes must stay free for restarts besides these `count` nodes, which are already free
 * and count as far as they are in the fabric; 0: none, or no fabric is known. */
uint32_t rail_advisor_spare_floor(rail_advisor* advisor, const uint32_t* free_nodes, uint32_t count);

/* The ranks of `count` nodes, distinct and in any order: ranks[i] of nodes[i] is the number of its unit
 * among theirs << 16, plus its place in it, both in rank order (sched/ask/rank_order.hpp). False: not all
 * of them are in the fabric, a unit has more than 65,536, or memory ran out; `ranks` is unchanged. */
bool rail_advisor_ranks(rail_advisor* advisor, const uint32_t* nodes, uint32_t count, uint32_t* ranks);

/* A plan is a list of node sets to offer to Slurm, best first. NULL: no opinion. Free it before the
 * advisor is closed. Its cost is bounded (sched/search/budget.hpp), for all its attempts together, and for
 * all plans of one second (question->now) together. */
rail_plan* rail_advisor_plan(rail_advisor* advisor, const struct rail_question* question);
void rail_plan_free(rail_plan* plan);

/* Whether the job has to wait if no attempt is accepted: its span or segments are kept, or too few nodes
 * would stay free. Otherwise Slurm may place it anywhere. */
bool rail_plan_waits(const rail_plan* plan);

struct rail_attempt {
    const uint32_t* nodes; /* ascending; valid until the next call with this plan */
    uint32_t count;
    int64_t earliest; /* no start before this moment; 0 = now */
    const char* why;
};
/* False: there are no more. */
bool rail_plan_next(rail_plan* plan, struct rail_attempt* attempt);

/* Whether the job might still fit although no attempt so far was accepted: there are more, other sets were
 * not tried, or memory ran out. Then it must not be reported as impossible. */
bool rail_plan_undecided(const rail_plan* plan);

/* Why the wanted nodes are not available now; "" while they are. */
const char* rail_plan_unfit(const rail_plan* plan);

/* A running job that a question's job may replace. */
struct rail_preemptible {
    const uint32_t* nodes; /* [count] that become free when it and all other jobs on them have ended */
    uint32_t count;
    uint32_t number;    /* by which restartd reports when it was last saved */
    uint32_t all_nodes; /* number of its nodes */
    uint32_t order;     /* while jobs of a lower order make room, none of a higher one is preempted */
    int64_t started;    /* seconds */
};

typedef struct rail_takeover {
    struct rail_attempt attempt;
    const uint32_t* jobs; /* [job_count] which of them are preempted, ascending; at least one */
    uint32_t job_count;
} rail_takeover;

/* Which jobs the question's job replaces (sched/preempt.hpp); question->free_at gives what is free now.
 * NULL: no opinion, there is room without preemption, or all of them together make none. Costs no more
 * than a plan. */
rail_takeover* rail_advisor_preempt(rail_advisor* advisor, const struct rail_question* question,
                                    const struct rail_preemptible* jobs, uint32_t count);
void rail_takeover_free(rail_takeover* takeover);

/* A job's admin_comment (NULL: none) with this text about preemption; allocated by malloc. NULL: out of
 * memory. */
char* rail_preemption_comment(const char* admin_comment, const char* text);

#ifdef __cplusplus
}
#endif
#endif
