#include "slurm_occupancy.h"

#include "slurm_question.h"

#include <stdbool.h>
#include <stdlib.h>

struct use { /* of one node, by running and suspended jobs */
    uint32_t cpus;
    uint64_t memory;
    time_t until;
    bool whole;
};

static int add_job(void* item, void* arg) {
    const job_record_t* job = item;
    struct use* uses = arg;
    if (!(IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) || !job->job_resrcs || !job->job_resrcs->node_bitmap)
        return 0;
    const job_resources_t* held = job->job_resrcs;
    const bool whole = held->whole_node == WHOLE_NODE_REQUIRED || held->node_req == NODE_CR_RESERVED;
    const int first = bit_ffs(held->node_bitmap), last = first < 0 ? -2 : bit_fls(held->node_bitmap);
    uint32_t at = 0;
    for (int i = first; i <= last; i++) {
        if (!bit_test(held->node_bitmap, i)) continue;
        uses[i].cpus += held->cpus ? held->cpus[at] : 0;
        uses[i].memory += held->memory_allocated ? held->memory_allocated[at] : 0;
        uses[i].whole |= whole;
        uses[i].until = MAX(uses[i].until, job->end_time);
        at++;
    }
    return 0;
}

struct need { /* of one job, on each of its nodes */
    uint32_t cpus;
    uint64_t memory; /* MB; 0: unlimited */
    bool whole, shares;
};

static struct need need_of(const job_record_t* job, enum occupancy_rule rule, uint32_t nodes) {
    const struct job_details* details = job->details;
    const uint16_t max_share = job->part_ptr ? job->part_ptr->max_share : 1;
    struct need need = {
        .cpus = MAX(details->pn_min_cpus, 1),
        .whole = details->whole_node == WHOLE_NODE_REQUIRED || max_share == 0,
        .shares = question_shares_cores(job),
    };
    const uint32_t per_task = details->cpus_per_task == NO_VAL16 ? 1 : MAX(details->cpus_per_task, 1);
    need.cpus = MAX(need.cpus, (uint32_t)details->ntasks_per_node * per_task);
    if (details->min_cpus != NO_VAL && (nodes == details->max_nodes || rule == OCCUPANCY_SURE))
        need.cpus = MAX(need.cpus, details->min_cpus / nodes);
    if ((slurm_conf.select_type_param & CR_MEMORY) && !(details->pn_min_memory & MEM_PER_CPU))
        need.memory = details->pn_min_memory;
    return need;
}

static bool has_room(const job_record_t* job, node_record_t* node, const struct use* use,
                     const struct need* need) {
    if (need->whole || use->whole) return false;
    if (need->memory && use->memory + need->memory > node->real_memory - node->mem_spec_limit) return false;
    if (job->gres_list_req && !gres_job_test(job->gres_list_req, node->gres_list, false, NULL, 0, 0,
                                             job->job_id, node->name, false))
        return false;
    return need->shares || use->cpus + need->cpus <= node->cpus_efctv;
}

uint32_t occupancy(const job_record_t* job, bitstr_t* candidates, enum occupancy_rule rule, uint32_t nodes,
                   int64_t* free_at, uint8_t* mixed) {
    uint32_t free_now = 0;
    bool taken = false;
    for (int i = 0; i < node_record_count; i++) {
        node_record_t* node = bit_test(candidates, i) ? node_record_table_ptr[i] : NULL;
        free_at[i] = node ? 0 : INT64_MAX;
        free_now += node != NULL;
        taken = taken || (node && (node->run_job_cnt || node->sus_job_cnt || node->comp_job_cnt));
    }
    if (rule == OCCUPANCY_EVER || !taken) return free_now;
    struct use* uses = xcalloc(node_record_count, sizeof(*uses));
    const struct need need = need_of(job, rule, nodes);
    /* For a job that requests whole nodes now, a node held by any job has no room. */
    if (rule == OCCUPANCY_LATER || !need.whole) list_for_each(job_list, add_job, uses);
    const time_t now = time(NULL);
    for (int i = 0; i < node_record_count; i++) {
        if (free_at[i] == INT64_MAX) continue;
        node_record_t* node = node_record_table_ptr[i];
        const bool held = node->run_job_cnt || node->sus_job_cnt;
        if (held ? has_room(job, node, &uses[i], &need) : !node->comp_job_cnt) {
            if (mixed) mixed[i] = held;
            continue;
        }
        /* A job over its limit and an epilog end soon. */
        free_at[i] = rule == OCCUPANCY_LATER ? MAX(uses[i].until, now + 1) : INT64_MAX;
        free_now--;
    }
    xfree(uses);
    return free_now;
}

static int by_weight(const void* a, const void* b) {
    const uint64_t first = *(const uint64_t*)a, second = *(const uint64_t*)b;
    return first < second ? -1 : first > second;
}

void occupancy_cheapest(int64_t* free_at, uint32_t nodes) {
    uint64_t* weights = xcalloc(node_record_count, sizeof(*weights));
    uint32_t count = 0;
    for (int i = 0; i < node_record_count; i++)
        if (free_at[i] == 0) weights[count++] = node_record_table_ptr[i]->sched_weight;
    if (count > nodes && nodes > 0) {
        qsort(weights, count, sizeof(*weights), by_weight);
        for (int i = 0; i < node_record_count; i++)
            if (free_at[i] == 0 && node_record_table_ptr[i]->sched_weight > weights[nodes - 1])
                free_at[i] = INT64_MAX;
    }
    xfree(weights);
}
