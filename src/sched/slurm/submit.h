/* submission.hpp for job_submit_rail.so, in C: it takes no Slurm types and throws no exceptions. */
#ifndef RAILYARD_SCHED_SLURM_SUBMIT_H
#define RAILYARD_SCHED_SLURM_SUBMIT_H

#include "sched/slurm/advisor.h" /* rail_log */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keeps the sizes of the fabric's units; watches the file like rail_advisor. */
typedef struct rail_gate rail_gate;
rail_gate* rail_gate_open(rail_log log);
void rail_gate_close(rail_gate* gate);

struct rail_submission {
    const char* const* variables; /* "RAIL_SPAN=unit", … */
    uint32_t count;
    const char* admin_comment; /* NULL: none */
    uint32_t nodes, most;      /* minimum and maximum that it requests; most 0: exactly `nodes` */
    bool batch;
    bool no_kill;
    int requeue; /* 1 --requeue, 0 --no-requeue, -1 neither */
    /* Slurm's own options, for jobs whose nodes our plugin chooses (submission.hpp) */
    uint32_t segment; /* 0: none */
    bool spread_segments, exclusive_topo_of_nothing;
};

/* Strings are allocated by malloc and freed by the caller; NULL: none. */
struct rail_verdict {
    bool accepted;
    bool set_requeue;
    char* message;       /* for the user: the reason, or a note */
    char* admin_comment; /* to be stored in place of the previous one; NULL: unchanged */
};
void rail_gate_submit(rail_gate* gate, const struct rail_submission* submission,
                      struct rail_verdict* verdict);

struct rail_change {
    const char* before;   /* the job's admin_comment; NULL: none */
    const char* after;    /* the requested admin_comment; NULL: unchanged */
    uint32_t nodes, most; /* minimum and maximum that it will request */
};
/* A new comment from an administrator without a railyard part keeps the job's part; one with such a part
 * replaces it, and is rejected if it cannot be parsed. */
void rail_gate_change(rail_gate* gate, const struct rail_change* change, struct rail_verdict* verdict);

#ifdef __cplusplus
}
#endif
#endif
