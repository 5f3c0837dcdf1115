/* select_rail.so: select_rail(8). Sits between slurmctld and Slurm's select_cons_tres.so: narrows the
 * candidate nodes of a job to those chosen by Railyard, and lets the stock plugin select cores, memory and
 * GRES.
 *
 * A job with a span or segments is never placed in any other way, until a wish ends, and no job takes the
 * nodes kept for restarts. Any other job of more than one node ([placement] pack = "all": any job) gets
 * the best place that is free now, or stock behaviour if that is rejected. In case of doubt there is no
 * opinion: the stock plugin gets what slurmctld passed to us.
 *
 * slurmctld calls select_p_job_test from its main scheduler (RUN_NOW), from backfill (WILL_RUN, whose
 * candidates include busy nodes, then RUN_NOW) and at submission (RUN_NOW or TEST_ONLY), on different
 * threads but always with locks on jobs and nodes. Clients and slurmd also load this plugin, to unpack
 * node information: there it only forwards calls, logs nothing and starts nothing. */

#include "slurm_inside.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "slurm_node_holds.h"
#include "slurm_occupancy.h"
#include "slurm_preemption.h"
#include "slurm_question.h"
#include "slurm_stock.h"

const char plugin_name[] = "Railyard node selection over cons_tres";
#ifdef RAIL_SHADOW
const char plugin_type[] = "select/cons_tres";
const uint32_t plugin_id = SELECT_PLUGIN_CONS_TRES;
#else
const char plugin_type[] = "select/rail";
const uint32_t plugin_id = 199; /* numbers below 100 and those of Slurm's plugins are reserved */
#endif
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

enum { MOST_ATTEMPTS = 8 }; /* calls of the stock plugin for one job, each as expensive as its own */

typedef int (*job_test_f)(job_record_t*, bitstr_t*, uint32_t, uint32_t, uint32_t, uint16_t, List, List*,
                          bitstr_t*);
typedef int (*plain_f)(void);

static job_test_f stock_job_test;
static int (*stock_job_fini)(job_record_t*);
static plain_f stock_node_init, stock_reconfigure, stock_fini;
static rail_advisor* advisor; /* only in slurmctld */

/* For administrators who only have slurmctld's log: how to disable this plugin. Logged where it is in use:
 * init() is called in every slurmctld that finds it in PluginDir. */
#ifdef RAIL_SHADOW
#define EMERGENCY                                                                                            \
    "Railyard chooses nodes; to do without it: no railyard/shadow in PluginDir, restart slurmctld"
#else
#define EMERGENCY                                                                                            \
    "to do without this plugin: SelectType=select/cons_tres on all hosts, restart every slurmd, then "       \
    "slurmctld, without -c or -i; leave this plugin installed until that has run (railctl disable)"
#endif

extern int init(void) {
    if (stock_load() != SLURM_SUCCESS) return SLURM_ERROR;
    stock_job_test = (job_test_f)stock_symbol("select_p_job_test");
    stock_node_init = (plain_f)stock_symbol("select_p_node_init");
    stock_reconfigure = (plain_f)stock_symbol("select_p_reconfigure");
    stock_fini = (plain_f)stock_symbol("fini");
    stock_job_fini = (int (*)(job_record_t*))stock_symbol("select_p_job_fini");
    plain_f stock_init = (plain_f)stock_symbol("init");
    if (!stock_job_test || !stock_job_fini || !stock_node_init || !stock_reconfigure || !stock_fini ||
        !stock_init)
        return SLURM_ERROR;
    return stock_init();
}

extern int fini(void) {
    if (advisor) rail_advisor_close(advisor);
    advisor = NULL;
    int rc = stock_fini ? stock_fini() : SLURM_SUCCESS;
    stock_unload();
    return rc;
}

/* At slurmctld's start and at each reconfiguration, after the node table was built. */
extern int select_p_node_init(void) {
    if (running_in_slurmctld()) {
        if (!advisor) {
            info("%s: %s", plugin_type, EMERGENCY);
            advisor = rail_advisor_open(question_log);
        } else {
            rail_advisor_reload(advisor);
        }
        if (advisor) question_map_nodes(advisor);
    }
    return stock_node_init();
}

/* Also after nodes were created or deleted. */
extern int select_p_reconfigure(void) {
    if (advisor) question_map_nodes(advisor);
    return stock_reconfigure();
}

extern int select_p_job_fini(job_record_t* job) {
    if (advisor) preemption_ended(job);
    return stock_job_fini(job);
}

/* One call of slurmctld. */
struct test {
    job_record_t* job;
    bitstr_t* nodes; /* in: candidates; out: chosen */
    uint32_t min_nodes, max_nodes, req_nodes;
    uint16_t mode;
    List preemptable;
    List* preempted;
    bitstr_t* exc_cores;
};

static int call_stock(const struct test* test) {
    return stock_job_test(test->job, test->nodes, test->min_nodes, test->max_nodes, test->req_nodes,
                          test->mode, test->preemptable, test->preempted, test->exc_cores);
}

/* The fields that the stock plugin changes in a job even when it rejects it. */
struct before {
    time_t start_time;
    uint64_t pn_min_memory;
    uint32_t min_cpus, total_cpus;
};

static struct before remember(const job_record_t* job) {
    return (struct before){job->start_time, job->details->pn_min_memory, job->details->min_cpus,
                           job->total_cpus};
}

static void restore(job_record_t* job, const struct before* before) {
    job->start_time = before->start_time;
    job->details->pn_min_memory = before->pn_min_memory;
    job->details->min_cpus = before->min_cpus;
    job->total_cpus = before->total_cpus;
}

/* The fewest nodes that the job's CPUs fill, if tasks were requested rather than nodes. */
static uint32_t nodes_filled(const struct test* test) {
    const uint32_t cpus = test->job->details->min_cpus;
    uint32_t most = 0;
    if (cpus == NO_VAL || cpus <= test->min_nodes) return 1;
    for (int i = 0; i < node_record_count; i++)
        if (bit_test(test->nodes, i) && node_record_table_ptr[i])
            most = MAX(most, node_record_table_ptr[i]->cpus_efctv);
    return most ? (cpus + most - 1) / most : 1;
}

/* The parts of a question that come from the job. */
static struct rail_question question_of(const struct test* test) {
    question_map_nodes(advisor);
    const uint32_t filled = MIN(nodes_filled(test), test->max_nodes);
    struct rail_question question = {
        .least = MAX(test->min_nodes, filled),
        .wanted = MAX(test->req_nodes, filled),
        .node_count = node_record_count,
    };
    question_take_hints(test->job, &question);
    const bool ever = (test->mode & SELECT_MODE_BASE) == SELECT_MODE_TEST_ONLY;
    question.spare_floor = question_spare_floor(advisor, test->job, test->nodes, ever);
    return question;
}

static bool is_plain(const struct rail_question* question) {
    return question->hints.span == RAIL_SPAN_ANY && !question->hints.segmented;
}

/* NULL: no opinion. */
static rail_plan* make_plan(const struct test* test, struct rail_question question) {
    const uint16_t base = test->mode & SELECT_MODE_BASE;
    const bool plain = is_plain(&question), packs = plain && question_packs(advisor, test->job);
    if (plain && !question.spare_floor &&
        (base == SELECT_MODE_TEST_ONLY || (question.wanted < 2 && !packs) || test->job->req_switch))
        return NULL;

    int64_t* free_at = xcalloc(node_record_count, sizeof(*free_at));
    uint8_t* mixed = packs ? xcalloc(node_record_count, sizeof(*mixed)) : NULL;
    /* A soft job gets the best place that is free now, or stock Slurm's: the end of other jobs is
     * irrelevant. */
    const bool soft = plain && !question.spare_floor;
    const bool now = soft || (base == SELECT_MODE_RUN_NOW && !test->preemptable);
    const enum occupancy_rule rule = base == SELECT_MODE_TEST_ONLY ? OCCUPANCY_EVER
                                     : soft && packs               ? OCCUPANCY_SURE
                                     : now                         ? OCCUPANCY_NOW
                                                                   : OCCUPANCY_LATER;
    const uint32_t free_now = occupancy(test->job, test->nodes, rule, question.least, free_at, mixed);
    rail_plan* plan = NULL;
    if (!soft || free_now >= question.least) {
        if (plain) occupancy_cheapest(free_at, question.wanted + question.spare_floor);
        uint8_t* required = question_required(test->job);
        question.free_at = free_at;
        question.required = required;
        question.mixed = mixed;
        plan = rail_advisor_plan(advisor, &question);
        xfree(required);
    }
    xfree(mixed);
    xfree(free_at);
    return plan;
}

static void forget_preempted(const struct test* test) {
    if (test->preempted) FREE_NULL_LIST(*test->preempted);
}

/* Offers one set of nodes. Success also means that the stock plugin took no others. */
static int offer(const struct test* test, const struct rail_attempt* attempt, const struct before* before) {
    bitstr_t* offered = bit_alloc(bit_size(test->nodes));
    for (uint32_t i = 0; i < attempt->count; i++)
        bit_set(offered, attempt->nodes[i]);
    bit_copybits(test->nodes, offered);
    restore(test->job, before);
    forget_preempted(test);
    int rc = call_stock(test);
    if (rc == SLURM_SUCCESS && !bit_super_set(test->nodes, offered)) {
        error("%s: %pJ: select_cons_tres took nodes it was not offered", plugin_type, test->job);
        rc = SLURM_ERROR;
    }
    FREE_NULL_BITMAP(offered);
    return rc;
}

/* TEST_ONLY and RUN_NOW: the first set that the stock plugin accepts. */
static int first_taken(const struct test* test, rail_plan* plan) {
    const bool now = (test->mode & SELECT_MODE_BASE) == SELECT_MODE_RUN_NOW;
    const struct before before = remember(test->job);
    struct rail_attempt attempt;
    for (int i = 0; i < MOST_ATTEMPTS && rail_plan_next(plan, &attempt); i++) {
        /* Its nodes may all be free while a wish has not ended yet. The stock plugin handles preemption. */
        if (now && attempt.earliest > time(NULL) && !test->preemptable) continue;
        int rc = offer(test, &attempt, &before);
        if (rc == SLURM_SUCCESS) {
            if (now) verbose("%s: %pJ: %s", plugin_type, test->job, attempt.why);
            return rc;
        }
    }
    restore(test->job, &before);
    forget_preempted(test);
    return SLURM_ERROR;
}

/* WILL_RUN: the set for which the stock plugin returns the earliest start. */
static int earliest_start(const struct test* test, rail_plan* plan) {
    const struct before before = remember(test->job);
    struct before best = before;
    bitstr_t* best_nodes = NULL;
    List best_preempted = NULL;
    struct rail_attempt attempt;
    for (int i = 0; i < MOST_ATTEMPTS && rail_plan_next(plan, &attempt); i++) {
        if (best_nodes && best.start_time <= MAX(attempt.earliest, (int64_t)time(NULL))) break;
        if (offer(test, &attempt, &before) != SLURM_SUCCESS) continue;
        /* The stock plugin does not know about wishes and the nodes kept for restarts. */
        test->job->start_time = MAX(test->job->start_time, (time_t)attempt.earliest);
        if (best_nodes && test->job->start_time >= best.start_time) continue;
        if (!best_nodes) best_nodes = bit_alloc(bit_size(test->nodes));
        bit_copybits(best_nodes, test->nodes);
        best = remember(test->job);
        if (test->preempted) {
            FREE_NULL_LIST(best_preempted);
            best_preempted = *test->preempted;
            *test->preempted = NULL;
        }
    }
    forget_preempted(test);
    restore(test->job, &best);
    if (!best_nodes) return SLURM_ERROR;
    bit_copybits(test->nodes, best_nodes);
    if (test->preempted) *test->preempted = best_preempted;
    FREE_NULL_BITMAP(best_nodes);
    return SLURM_SUCCESS;
}

/* The job must be placed as requested, however long it waits. */
static int test_hard(const struct test* test, rail_plan* plan) {
    const uint16_t base = test->mode & SELECT_MODE_BASE;
    if (base == SELECT_MODE_TEST_ONLY && !question_is_submission(test->job)) return call_stock(test);
    bitstr_t* candidates = bit_copy(test->nodes);
    int rc = base == SELECT_MODE_WILL_RUN ? earliest_start(test, plan) : first_taken(test, plan);
    if (rc != SLURM_SUCCESS) {
        debug("%s: %pJ: %s", plugin_type, test->job, rail_plan_unfit(plan));
        bit_copybits(test->nodes, candidates);
        /* A submission is only rejected if it is known never to fit. */
        if (base == SELECT_MODE_TEST_ONLY && rail_plan_undecided(plan)) rc = call_stock(test);
    }
    FREE_NULL_BITMAP(candidates);
    return rc;
}

/* The best place that is free now (a small job that may share nodes has up to three), or the stock
 * plugin's choice among all candidates. */
static int test_soft(const struct test* test, rail_plan* plan) {
    const struct before before = remember(test->job);
    struct rail_attempt attempt;
    bitstr_t* candidates = bit_copy(test->nodes);
    int rc = SLURM_ERROR;
    for (int i = 0; i < MOST_ATTEMPTS && rc != SLURM_SUCCESS && rail_plan_next(plan, &attempt); i++) {
        rc = offer(test, &attempt, &before);
        if (rc == SLURM_SUCCESS && (test->mode & SELECT_MODE_BASE) == SELECT_MODE_WILL_RUN &&
            test->job->start_time > time(NULL))
            rc = SLURM_ERROR; /* other nodes may be free earlier */
        if (rc != SLURM_SUCCESS) {
            bit_copybits(test->nodes, candidates);
            restore(test->job, &before);
            forget_preempted(test);
        } else if ((test->mode & SELECT_MODE_BASE) == SELECT_MODE_RUN_NOW) {
            verbose("%s: %pJ: %s", plugin_type, test->job, attempt.why);
        }
    }
    FREE_NULL_BITMAP(candidates);
    return rc == SLURM_SUCCESS ? rc : call_stock(test);
}

/* If Slurm lets a gang preempt others and it does not fit next to them: replaces those that lose the least
 * work. */
static int test_taking_over(const struct test* test, struct rail_question question) {
    const uint16_t base = test->mode & SELECT_MODE_BASE;
    if (base == SELECT_MODE_TEST_ONLY || !test->preemptable || !test->preempted) return SLURM_ERROR;
    if (is_plain(&question) && (question.wanted < 2 || test->job->req_switch)) return SLURM_ERROR;
    int64_t* free_at = xcalloc(node_record_count, sizeof(*free_at));
    occupancy(test->job, test->nodes, OCCUPANCY_NOW, question.least, free_at, NULL);
    uint8_t* required = question_required(test->job);
    question.free_at = free_at;
    question.required = required;
    struct preemption chosen;
    const bool found = preemption_choose(advisor, &question, test->nodes, test->preemptable, &chosen);
    xfree(required);
    xfree(free_at);
    if (!found) return SLURM_ERROR;

    const struct before before = remember(test->job);
    bitstr_t* candidates = bit_copy(test->nodes);
    struct test narrowed = *test;
    narrowed.preemptable = chosen.jobs;
    int rc = offer(&narrowed, &chosen.takeover->attempt, &before);
    /* In its simulation, Slurm starts it at once if all jobs that may be preempted have ended. */
    if (rc == SLURM_SUCCESS && base == SELECT_MODE_WILL_RUN && test->job->start_time > time(NULL))
        rc = SLURM_ERROR;
    if (rc != SLURM_SUCCESS) {
        bit_copybits(test->nodes, candidates);
        restore(test->job, &before);
        forget_preempted(test);
    } else if (base == SELECT_MODE_RUN_NOW) {
        verbose("%s: %pJ %s", plugin_type, test->job, chosen.takeover->attempt.why);
        preemption_note(test->job, &chosen);
    }
    FREE_NULL_BITMAP(candidates);
    preemption_free(&chosen);
    return rc;
}

extern int select_p_job_test(job_record_t* job, bitstr_t* nodes, uint32_t min_nodes, uint32_t max_nodes,
                             uint32_t req_nodes, uint16_t mode, List preemptable, List* preempted,
                             bitstr_t* exc_cores) {
    const struct test test = {job,  nodes,       min_nodes, max_nodes, req_nodes,
                              mode, preemptable, preempted, exc_cores};
    const uint16_t base = mode & SELECT_MODE_BASE;
    if (!advisor || !job->details || min_nodes == 0 ||
        (base != SELECT_MODE_RUN_NOW && base != SELECT_MODE_WILL_RUN && base != SELECT_MODE_TEST_ONLY))
        return call_stock(&test);
    node_holds_correct();
    const struct rail_question question = question_of(&test);
    if (test_taking_over(&test, question) == SLURM_SUCCESS) return SLURM_SUCCESS;
    rail_plan* plan = make_plan(&test, question);
    if (!plan) return call_stock(&test);
    int rc = rail_plan_waits(plan) ? test_hard(&test, plan) : test_soft(&test, plan);
    rail_plan_free(plan);
    return rc;
}
