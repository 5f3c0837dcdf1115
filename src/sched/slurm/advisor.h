/* What the plugins inside slurmctld ask of Railyard, in C: no Slurm type goes in, no exception comes out.
 *
 * An advisor keeps the fabric (fabric_file.hpp) and which of its hosts each entry of Slurm's node table is.
 * "No opinion" is an answer everywhere: without a fabric, or when nothing is known about the nodes in
 * question, Slurm decides alone; the log says so once.
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

/* The span a job asks for: the railyard part of its admin_comment if that names one, else RAIL_SPAN among its
 * `count` variables ("NAME=value"). Words that are no span count as none: submission refused them. */
enum rail_span { RAIL_SPAN_ANY, RAIL_SPAN_UNIT, RAIL_SPAN_POD, RAIL_SPAN_FABRIC };
enum rail_span rail_span_of(const char* admin_comment, const char* const* variables, uint32_t count);

#define RAIL_NEVER INT64_MAX
struct rail_question {
    uint32_t least, wanted; /* nodes: at least, and at best */
    enum rail_span span;    /* other than any: hard */
    uint32_t node_count;
    const int64_t* free_at;  /* [node_count] 0 = free now, RAIL_NEVER = not a candidate, else seconds */
    const uint8_t* required; /* [node_count] non-zero = must be in; NULL: none */
};

/* A plan is a list of node sets to offer to Slurm, best first. NULL: no opinion. Free it. */
rail_plan* rail_advisor_plan(rail_advisor* advisor, const struct rail_question* question);
void rail_plan_free(rail_plan* plan);

struct rail_attempt {
    const uint32_t* nodes; /* ascending; valid until the next call on this plan */
    uint32_t count;
    int64_t earliest; /* no start before this moment; 0 = now */
    const char* why;
};
/* False: there are no more. */
bool rail_plan_next(rail_plan* plan, struct rail_attempt* attempt);

/* Why the wanted nodes cannot be had now; "" while they can. */
const char* rail_plan_unfit(const rail_plan* plan);

#ifdef __cplusplus
}
#endif
#endif
