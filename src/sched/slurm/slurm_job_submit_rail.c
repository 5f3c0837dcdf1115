/* job_submit_rail.so: job_submit_rail(8). Connects Slurm's job description with submission.hpp.
 *
 * Called by slurmctld with the job write lock held for each submission and change. Jobs without Railyard's
 * flags, and without Slurm's own options of the same meaning, are not touched. */

#include "slurm_inside.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/slurm/submit.h"

#include "slurm_layout.h"

const char plugin_name[] = "Railyard job submission";
const char plugin_type[] = "job_submit/rail";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

static rail_gate* gate;
static bool chosen_by_us; /* the nodes of jobs */

static void log_text(enum rail_level level, const char* text) {
    if (level == RAIL_LOG_ERROR)
        error("job_submit/rail: %s", text);
    else
        info("job_submit/rail: %s", text);
}

/* The plugin that enforces spans: Slurm's node selection before 24.05, its topology plugin since. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
#define CHOOSER "topology"
#define CHOOSER_OPTION "TopologyPlugin"
#define chooser_type slurm_conf.topology_plugin
#else
#define CHOOSER "select"
#define CHOOSER_OPTION "SelectType"
#define chooser_type slurm_conf.select_type
#endif

/* Whether the plugin that slurmctld loads for a type is Railyard's, under its own name or the stock one's. */
static bool is_ours(const char* of)
{
    const char* type = strchr(of, '/');
    char *dirs = xstrdup(slurm_conf.plugindir), *rest = NULL, path[PATH_MAX];
    bool kept = false;
    for (char* dir = strtok_r(dirs, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
        snprintf(path, sizeof(path), "%s/" CHOOSER "_%s.so", dir, type ? type + 1 : "");
        if (access(path, R_OK)) continue;
        void* loaded = dlopen(path, RTLD_LAZY | RTLD_LOCAL); /* may be loaded by Slurm later */
        const char* name = loaded ? dlsym(loaded, "plugin_name") : NULL;
        kept = name && !strncmp(name, "Railyard", strlen("Railyard"));
        if (loaded) dlclose(loaded);
        break; /* Slurm uses the first one */
    }
    xfree(dirs);
    return kept;
}

/* Logs the reason if not. */
static bool spans_are_kept(void)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
    char* named = get_extra_conf_path("topology.yaml");
    const bool by_name = !access(named, F_OK);
    xfree(named);
    if (by_name) {
        const bool kept = is_ours("topology/tree") && is_ours("topology/block") && is_ours("topology/flat");
        if (!kept)
            error("job_submit/rail: with topology.yaml Slurm takes no TopologyPlugin: --rail-span is checked "
                  "but not kept; put railyard/shadow first in PluginDir, or do without that file");
        return kept;
    }
#endif
    const bool kept = is_ours(chooser_type);
    if (!kept)
        error("job_submit/rail: " CHOOSER_OPTION " is %s: --rail-span is checked but not kept; use " CHOOSER
              "/rail", chooser_type);
    return kept;
}

extern int init(void)
{
    if (!running_in_slurmctld()) return SLURM_SUCCESS;
    chosen_by_us = spans_are_kept();
    gate = rail_gate_open(log_text);
    return SLURM_SUCCESS;
}

extern int fini(void) {
    if (gate) rail_gate_close(gate);
    gate = NULL;
    return SLURM_SUCCESS;
}

/* Takes ownership of the verdict's strings. */
static void settle(struct rail_verdict* verdict, job_desc_msg_t* job, char** err_msg) {
    if (verdict->message && err_msg) {
        xfree(*err_msg);
        *err_msg = xstrdup(verdict->message);
    }
    if (verdict->admin_comment) {
        xfree(job->admin_comment);
        job->admin_comment = xstrdup(verdict->admin_comment);
    }
    free(verdict->message);
    free(verdict->admin_comment);
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
/* Whether topology.conf defines switches or blocks, or there is a topology.yaml (25.05). */
static bool topology_known(void)
{
    char *path = get_extra_conf_path("topology.yaml"), *line = NULL;
    bool known = !access(path, R_OK);
    xfree(path);
    path = get_extra_conf_path("topology.conf");
    FILE* conf = fopen(path, "re");
    size_t size = 0;
    while (conf && !known && getline(&line, &size, conf) >= 0) {
        const char* word = line + strspn(line, " \t");
        known = !xstrncasecmp(word, "BlockName", strlen("BlockName")) ||
                !xstrncasecmp(word, "SwitchName", strlen("SwitchName"));
    }
    free(line);
    if (conf) fclose(conf);
    xfree(path);
    return known;
}
#endif

/* Takes --segment, its related options, and --exclusive=topo; returns whether any is set. Without --nodes
 * a segment cannot be judged: the job's number of nodes is not known yet. */
static bool take_own_words(const job_desc_msg_t* job, struct rail_submission* submission)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
    if (!chosen_by_us) return false;
    if (job->segment_size != NO_VAL16 && job->min_nodes != NO_VAL) submission->segment = job->segment_size;
#ifdef SPREAD_SEGMENTS /* 25.11 */
    submission->spread_segments = job->bitflags & SPREAD_SEGMENTS;
#endif
    submission->exclusive_topo_of_nothing = job->shared == JOB_SHARED_TOPO && !topology_known();
    return submission->segment > 1 || submission->spread_segments || submission->exclusive_topo_of_nothing;
#else
    (void)job;
    (void)submission;
    return false;
#endif
}

extern int job_submit(job_desc_msg_t* job, uint32_t submit_uid, char** err_msg) {
    (void)submit_uid;
    if (!gate) return SLURM_SUCCESS;
    struct rail_submission submission = {
        .variables = (const char* const*)job->spank_job_env,
        .count = job->spank_job_env_size,
        .admin_comment = job->admin_comment,
        .nodes = job->min_nodes == NO_VAL ? 1 : job->min_nodes,
        .most = job->max_nodes == NO_VAL ? 0 : job->max_nodes,
        .batch = job->script != NULL,
        .no_kill = job->kill_on_node_fail == 0,
        .requeue = job->requeue == NO_VAL16 ? -1 : job->requeue != 0,
    };
    if (!take_own_words(job, &submission) && !job->spank_job_env_size) return SLURM_SUCCESS;
    struct rail_verdict verdict;
    rail_gate_submit(gate, &submission, &verdict);
    if (verdict.accepted && verdict.set_requeue) job->requeue = 1;
    settle(&verdict, job, err_msg);
    return verdict.accepted ? SLURM_SUCCESS : ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
}

/* Slurm itself lets only administrators change admin_comment. In 22.05 no message can be passed to the
 * user here, so the sentence is also logged by slurmctld. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
extern int job_modify(job_desc_msg_t* job, job_record_t* record, uint32_t submit_uid, char** err_msg) {
#else
extern int job_modify(job_desc_msg_t* job, job_record_t* record, uint32_t submit_uid) {
    char** const err_msg = NULL;
#endif
    if (!gate) return SLURM_SUCCESS;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
    if (!layout_of_job(record)) return SLURM_SUCCESS;
#endif
    if (!job->admin_comment && (job->min_nodes == NO_VAL || !record->admin_comment)) return SLURM_SUCCESS;
    uint32_t nodes = job->min_nodes, most = job->max_nodes;
    if (nodes == NO_VAL) nodes = record->details ? record->details->min_nodes : 1;
    if (most == NO_VAL) most = record->details ? record->details->max_nodes : 0;
    struct rail_change change = {
        .before = record->admin_comment,
        .after = job->admin_comment,
        .nodes = nodes,
        .most = most,
    };
    struct rail_verdict verdict;
    rail_gate_change(gate, &change, &verdict);
    if (!verdict.accepted)
        info("job_submit/rail: change of %pJ by uid %u refused: %s", record, submit_uid,
             verdict.message ? verdict.message : "");
    settle(&verdict, job, err_msg);
    return verdict.accepted ? SLURM_SUCCESS : ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
}
