/* topology_rail.so: topology_rail(8), for Slurm 24.11 and later. Sits between Slurm's node selection and
 * its own topology plugin: narrows the candidate nodes of a job to those chosen by Railyard, and lets the
 * stock plugin select nodes, cores and GRES from them.
 *
 * A job with a span or segments is never placed in any other way, until a wish ends, and no job takes the
 * nodes kept for restarts. Any other job of more than one node ([placement] pack = "all": any job) gets
 * the best place that is free, or stock behaviour if that is rejected. In case of doubt there is no
 * opinion: the stock plugin gets what cons_tres passed to us.
 *
 * cons_tres calls topology_p_eval_nodes for every question: could this job ever run (TEST_ONLY, with all
 * configured nodes, whatever their state), can it run now (RUN_NOW), when will it run (WILL_RUN: backfill,
 * first with the nodes free now, then after each simulated end of jobs). The candidates are always nodes
 * with room for the job in that question, so no times need to be estimated here. The question itself is
 * not passed on; only backfill marks the job (BACKFILL_TEST).
 *
 * "Not now", as opposed to "never", is returned in the way in which the stock tree plugin lets a job wait
 * for fewer switches: success with best_switch unset in the job. cons_tres treats that as success in
 * TEST_ONLY, and as a rejection otherwise; the job then stays pending for Resources.
 *
 * Clients and slurmd also load this plugin, for routing and `scontrol show topology`: there it only
 * forwards calls, logs nothing and starts nothing.
 *
 * Compiled once for each release, together with that release's own file (slurm_topology_rail.h), and, with
 * RAIL_SHADOW=tree, block or flat, once more to replace Slurm's plugin under its own name: topology.yaml
 * can only name those. Slurm then loads this file once for each topology of that kind. */

#include "slurm_topology_rail.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "slurm_layout.h"
#include "slurm_node_holds.h"
#include "slurm_question.h"

const char plugin_name[] = "Railyard topology over Slurm's own";
#ifdef RAIL_SHADOW
#define TEXT_OF(word) #word
#define TEXT(macro) TEXT_OF(macro)
const char plugin_type[] = "topology/" TEXT(RAIL_SHADOW);
#define EMERGENCY "to do without this plugin: no railyard/shadow in PluginDir, restart slurmctld"
#else
const char plugin_type[] = "topology/rail";
#define EMERGENCY                                                                                            \
    "to do without this plugin: no TopologyPlugin=topology/rail, restart slurmctld (railctl disable)"
#endif
const uint32_t plugin_version = SLURM_VERSION_NUMBER;
uint32_t plugin_id;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
bool supports_exclusive_topo;
#endif

enum { MOST_ATTEMPTS = 8 }; /* calls of the stock plugin for one question, each as expensive as its own */

typedef int (*plain_f)(void);
typedef int (*eval_f)(topology_eval_t*);
typedef void (*free_f)(void*);

static eval_f stock_eval;
static plain_f stock_fini;
static unsigned loaded;       /* how often: Slurm calls init() for each topology in topology.yaml */
static rail_advisor* advisor; /* only in slurmctld */

#ifdef RAIL_SHADOW
static const char* stock_file(void) {
    return "topology_" TEXT(RAIL_SHADOW) ".so";
}
#else
/* Slurm's own plugin that can read topology.conf: block if it defines blocks, tree if it defines switches,
 * the flat one if it defines neither or does not exist. */
static const char* stock_file(void) {
    const char* file = topology_flat;
    char* path = get_extra_conf_path("topology.conf");
    FILE* conf = fopen(path, "re");
    char* line = NULL;
    size_t size = 0;
    while (conf && getline(&line, &size, conf) >= 0) {
        const char* word = line + strspn(line, " \t");
        if (!xstrncasecmp(word, "BlockName", strlen("BlockName"))) file = "topology_block.so";
        if (!xstrncasecmp(word, "SwitchName", strlen("SwitchName"))) file = "topology_tree.so";
    }
    free(line);
    if (conf) fclose(conf);
    xfree(path);
    return file;
}

#endif

int stock_load(void) {
    return stock_open(stock_file(), topology_forwards, topology_forward_count);
}

extern int init(void) {
    if (loaded++) return SLURM_SUCCESS;
#ifndef RAIL_SHADOW /* slurmctld loads all of them, used or not */
    if (running_in_slurmctld()) info("%s: " EMERGENCY, plugin_type);
#endif
    if (stock_load() != SLURM_SUCCESS) return SLURM_ERROR;
    const uint32_t* stock_id = stock_symbol("plugin_id");
    stock_eval = (eval_f)stock_symbol("topology_p_eval_nodes");
    stock_fini = (plain_f)stock_symbol("fini");
    plain_f stock_init = (plain_f)stock_symbol("init");
    if (!stock_id || !stock_eval || !stock_fini || !stock_init) return SLURM_ERROR;
    plugin_id = *stock_id;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
    const bool* exclusive = stock_symbol("supports_exclusive_topo");
    if (!exclusive) return SLURM_ERROR;
    supports_exclusive_topo = *exclusive;
#endif
    return stock_init();
}

/* Slurm 26.05 ignores the result, and its own plugins return none. */
extern int fini(void) {
    if (!loaded || --loaded) return SLURM_SUCCESS;
    if (advisor) rail_advisor_close(advisor);
    advisor = NULL;
    if (stock_fini) stock_fini();
    stock_unload();
    return SLURM_SUCCESS;
}

void topology_rail_configured(void) {
    if (!running_in_slurmctld() || !layout_of_nodes()) return;
    if (!advisor) {
#ifdef RAIL_SHADOW
        info("%s: Railyard chooses nodes; " EMERGENCY, plugin_type);
#endif
        advisor = rail_advisor_open(question_log);
    } else {
        rail_advisor_reload(advisor);
    }
    if (advisor) question_map_nodes(advisor);
}

bool topology_rail_sees_all(void) {
    return advisor && (rail_advisor_packs_all(advisor) || rail_advisor_spare_floor(advisor, NULL, 0));
}

bool topology_rail_ranks(bitstr_t* nodes, uint32_t** ranks, uint32_t* count) {
    if (!advisor || !nodes) return false;
    const uint32_t wanted = bit_set_count(nodes);
    uint32_t* list = xcalloc(MAX(wanted, 1), sizeof(*list));
    uint32_t* found = xcalloc(MAX(wanted, 1), sizeof(*found));
    uint32_t at = 0;
    for (int i = 0; next_node_bitmap(nodes, &i) && at < wanted; i++)
        list[at++] = i;
    question_map_nodes(advisor);
    const bool known = at && at == wanted && rail_advisor_ranks(advisor, list, at, found);
    xfree(list);
    if (!known) {
        xfree(found);
        return false;
    }
    *ranks = found;
    *count = at;
    return true;
}

/* The fewest nodes that the job's CPUs fill, if tasks were requested rather than nodes. */
static uint32_t nodes_filled(const topology_eval_t* eval, bitstr_t* candidates) {
    const uint32_t cpus = eval->job_ptr->details->min_cpus;
    uint32_t most = 0;
    if (cpus == NO_VAL || cpus <= eval->min_nodes) return 1;
    for (int i = 0; next_node_bitmap(candidates, &i); i++)
        if (eval->avail_res_array[i]) most = MAX(most, eval->avail_res_array[i]->avail_cpus);
    return most ? (cpus + most - 1) / most : 1;
}

/* The number of nodes for the job, in the stock plugins' interpretation of the request. */
static void count_nodes(const topology_eval_t* eval, bitstr_t* candidates, struct rail_question* question) {
    const job_details_t* details = eval->job_ptr->details;
    uint32_t most = eval->max_nodes;
    if (details->num_tasks && !details->ntasks_per_node && most > details->num_tasks)
        most = MAX(details->num_tasks, eval->min_nodes);
    const uint32_t filled = MIN(nodes_filled(eval, candidates), most);
    question->least = MAX(eval->min_nodes, filled);
    question->wanted = MAX(MIN(eval->req_nodes, most), question->least);
}

/* Slurm's node Weight, including what cons_tres adds for nodes that are completing or powered down: the
 * largest one needed for `nodes` nodes if the lightest are taken first. */
static uint64_t heaviest_needed(bitstr_t* candidates, uint32_t nodes) {
    enum { MOST_WEIGHTS = 32 };
    struct {
        uint64_t weight;
        uint32_t count;
    } seen[MOST_WEIGHTS];
    int distinct = 0;
    const node_record_t* node;
    for (int i = 0; (node = next_node_bitmap(candidates, &i)); i++) {
        int at = 0;
        while (at < distinct && seen[at].weight != node->sched_weight)
            at++;
        if (at == MOST_WEIGHTS) return UINT64_MAX; /* too many to evaluate cheaply: weights are ignored */
        if (at == distinct) {
            seen[distinct].weight = node->sched_weight;
            seen[distinct++].count = 0;
        }
        seen[at].count++;
    }
    uint64_t heaviest = 0;
    for (uint32_t held = 0; held < nodes;) { /* few: repeatedly the lightest one not yet counted */
        int lightest = -1;
        for (int i = 0; i < distinct; i++)
            if (seen[i].count && (lightest < 0 || seen[i].weight < seen[lightest].weight)) lightest = i;
        if (lightest < 0) return UINT64_MAX;
        heaviest = seen[lightest].weight;
        held += seen[lightest].count;
        seen[lightest].count = 0;
    }
    return heaviest;
}

/* NULL: no opinion. */
static rail_plan* make_plan(const topology_eval_t* eval, bitstr_t* candidates,
                            struct rail_question* question) {
    const job_record_t* job = eval->job_ptr;
    const bool plain = question->hints.span == RAIL_SPAN_ANY && !question->hints.segmented;
    count_nodes(eval, candidates, question);
    question->spare_floor = question_spare_floor(advisor, job, candidates, false);
    const bool packs = plain && question_packs(advisor, job);
    if (plain && !question->spare_floor && ((question->wanted < 2 && !packs) || job->req_switch)) return NULL;
    question_map_nodes(advisor);
    question->node_count = node_record_count;

    const uint64_t heaviest =
        plain ? heaviest_needed(candidates, question->wanted + question->spare_floor) : UINT64_MAX;
    int64_t* free_at = xcalloc(node_record_count, sizeof(*free_at));
    for (int i = 0; i < node_record_count; i++)
        free_at[i] = RAIL_NEVER;
    uint8_t* mixed = packs ? xcalloc(node_record_count, sizeof(*mixed)) : NULL;
    const node_record_t* node;
    for (int i = 0; (node = next_node_bitmap(candidates, &i)); i++) {
        if (node->sched_weight <= heaviest ||
            (job->details->req_node_bitmap && bit_test(job->details->req_node_bitmap, i)))
            free_at[i] = 0;
        if (mixed) mixed[i] = node->run_job_cnt > 0;
    }
    uint8_t* required = question_required(job);
    question->free_at = free_at;
    question->required = required;
    question->mixed = mixed;
    rail_plan* plan = rail_advisor_plan(advisor, question);
    xfree(required);
    xfree(mixed);
    xfree(free_at);
    return plan;
}

/* Frees what the stock plugin stored in the job at the last call: Slurm does so before each of its own
 * calls, and the stock plugin expects nothing there. */
static void forget_noted(job_record_t* job) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
    topology_g_jobinfo_free(job->topo_jobinfo);
    job->topo_jobinfo = NULL;
#else
    (void)job;
#endif
}

static int ask_stock(topology_eval_t* eval) {
    forget_noted(eval->job_ptr);
    return stock_eval(eval);
}

/* Calls the stock plugin with one set of nodes. It gets copies of the cores of these nodes only: this
 * keeps cons_tres's own unchanged if it rejects them, and it copies everything it gets. On failure `eval`
 * is unchanged, except for what the stock plugin writes into avail_res_array when it fails, as it does
 * between its own attempts. */
static int offer(topology_eval_t* eval, const struct rail_attempt* attempt) {
    const topology_eval_t before = *eval;
    bitstr_t* candidates = bit_copy(eval->node_map);
    bitstr_t** cores = xcalloc(node_record_count, sizeof(*cores));
    bit_clear_all(eval->node_map);
    for (uint32_t i = 0; i < attempt->count; i++) {
        const uint32_t node = attempt->nodes[i];
        bit_set(eval->node_map, node);
        if (before.avail_core[node]) cores[node] = bit_copy(before.avail_core[node]);
    }
    eval->avail_core = cores;
    int rc = ask_stock(eval);
    eval->avail_core = before.avail_core;
    for (uint32_t i = 0; i < attempt->count; i++) {
        const uint32_t node = attempt->nodes[i];
        if (rc == SLURM_SUCCESS && cores[node]) {
            bitstr_t* whole = before.avail_core[node];
            before.avail_core[node] = cores[node];
            cores[node] = whole;
        }
        FREE_NULL_BITMAP(cores[node]);
    }
    if (rc != SLURM_SUCCESS) {
        *eval = before;
        bit_copybits(eval->node_map, candidates);
    }
    FREE_NULL_BITMAP(candidates);
    xfree(cores);
    return rc;
}

/* The first set that the stock plugin accepts. `later`: there are others for when a wish has ended. */
static int first_taken(topology_eval_t* eval, rail_plan* plan, bool* later) {
    struct rail_attempt attempt;
    for (int i = 0; i < MOST_ATTEMPTS && rail_plan_next(plan, &attempt); i++) {
        if (attempt.earliest) {
            *later = true;
        } else if (offer(eval, &attempt) == SLURM_SUCCESS) {
            debug("%s: %pJ: %s", plugin_type, eval->job_ptr, attempt.why);
            return SLURM_SUCCESS;
        }
    }
    return SLURM_ERROR;
}

/* "Not now", as explained at the top of this file. */
static int wait_for_nodes(topology_eval_t* eval, const struct rail_question* question, bool later) {
    job_record_t* job = eval->job_ptr;
    if ((job->bit_flags & BACKFILL_TEST) || (question_is_submission(job) && !later)) return SLURM_ERROR;
    /* More nodes than the job may have would not count as runnable. */
    int32_t excess = bit_set_count(eval->node_map) - question->wanted;
    for (int i = bit_fls(eval->node_map); i >= 0 && excess > 0; i--) {
        if (!bit_test(eval->node_map, i) ||
            (job->details->req_node_bitmap && bit_test(job->details->req_node_bitmap, i)))
            continue;
        bit_clear(eval->node_map, i);
        excess--;
    }
    job->best_switch = false;
    return SLURM_SUCCESS;
}

/* The candidates that our advice applies to, a copy; NULL: all. */
static bitstr_t* part_of(const topology_eval_t* eval) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
    if (eval->tctx && eval->tctx->config) {
        bitstr_t* candidates = bit_copy(eval->node_map);
        topology_part_keep(eval->tctx, candidates);
        return candidates;
    }
#endif
    (void)eval;
    return NULL;
}

static int choose(topology_eval_t* eval) {
    job_record_t* job = eval->job_ptr;
    node_holds_correct();
    struct rail_question question = {0};
    question_take_hints(job, &question);
    bitstr_t* part = part_of(eval);
    rail_plan* plan = make_plan(eval, part ? part : eval->node_map, &question);
    FREE_NULL_BITMAP(part);
    if (!plan) return ask_stock(eval);
    const bool hard = rail_plan_waits(plan);
    bool later = false;
    int rc = first_taken(eval, plan, &later);
    if (rc != SLURM_SUCCESS && hard) {
        /* Other hosts that are busy now may be the ones that stay free later. */
        later |= question.spare_floor > question_spare_floor(advisor, job, eval->node_map, true);
        /* A submission is only rejected if it is known never to fit. */
        later |= rail_plan_undecided(plan);
        debug("%s: %pJ: %s", plugin_type, job, rail_plan_unfit(plan));
        rc = wait_for_nodes(eval, &question, later);
    } else if (rc != SLURM_SUCCESS) {
        rc = ask_stock(eval);
    }
    rail_plan_free(plan);
    return rc;
}

extern int topology_p_eval_nodes(topology_eval_t* eval) {
    job_record_t* job = eval->job_ptr;
    /* If a job has another layout, nothing in it is read or written, not even what ask_stock() frees. */
    if (!advisor || !layout_of_job(job)) return stock_eval(eval);
    if (!job->req_switch) job->best_switch = true; /* whatever was set before */
    /* A reservation asks on behalf of a job without a number. */
    if (!job->details || !job->job_id || eval->min_nodes == 0) return stock_eval(eval);
    return choose(eval);
}
