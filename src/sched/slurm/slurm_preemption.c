#include "slurm_preemption.h"

#include "src/slurmctld/preempt.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern time_t last_job_update __attribute__((weak)); /* as in slurm_inside.h: not defined in clients */

/* If set, the administrator's order is followed strictly. */
static bool strictly_ordered(void) {
    return xstrcasestr(slurm_conf.sched_params, "preempt_strict_order") != NULL;
}

static uint32_t order_of(const job_record_t* job) {
    if (!xstrcmp(slurm_conf.preempt_type, "preempt/qos")) return job->qos_ptr ? job->qos_ptr->priority : 0;
    return job->part_ptr ? job->part_ptr->priority_tier : 0;
}

struct candidates {
    job_record_t** records;
    struct rail_preemptible* jobs;
    uint32_t count;
    uint16_t* on_node; /* [node_record_count] number of candidates */
};

static int each_part(job_record_t* job, int (*visit)(void*, void*), void* arg) {
    if (job->het_job_list) return list_for_each(job->het_job_list, visit, arg);
    return visit(job, arg);
}

static int count_part(void* item, void* arg) {
    const job_record_t* part = item;
    struct candidates* all = arg;
    if (!part->node_bitmap) return 0;
    for (int i = bit_ffs(part->node_bitmap), last = i < 0 ? -2 : bit_fls(part->node_bitmap); i <= last; i++)
        if (bit_test(part->node_bitmap, i)) all->on_node[i]++;
    return 0;
}

/* A job that is suspended or killed in place makes no room for another one's memory. */
static int add_candidate(void* item, void* arg) {
    job_record_t* job = item;
    struct candidates* all = arg;
    const uint16_t mode = slurm_job_preempt_mode(job);
    if ((mode != PREEMPT_MODE_REQUEUE && mode != PREEMPT_MODE_CANCEL) || !job->node_bitmap) return 0;
    all->records[all->count++] = job;
    each_part(job, count_part, all);
    return 0;
}

struct room { /* the part of a candidate that counts */
    struct rail_preemptible* job;
    uint32_t* nodes; /* [node_record_count] */
    bitstr_t* wanted;
    const struct candidates* all;
};

static int take_part(void* item, void* arg) {
    const job_record_t* part = item;
    struct room* room = arg;
    if (!part->node_bitmap) return 0;
    room->job->all_nodes += part->node_cnt;
    for (int i = bit_ffs(part->node_bitmap), last = i < 0 ? -2 : bit_fls(part->node_bitmap); i <= last; i++) {
        const node_record_t* node = bit_test(part->node_bitmap, i) ? node_record_table_ptr[i] : NULL;
        if (!node || !bit_test(room->wanted, i)) continue;
        if (node->comp_job_cnt || node->run_job_cnt + node->sus_job_cnt != room->all->on_node[i]) continue;
        room->nodes[room->job->count++] = i;
    }
    return 0;
}

static void collect(List list, bitstr_t* nodes, struct candidates* all) {
    const int most = list_count(list);
    all->records = xcalloc(most, sizeof(*all->records));
    all->jobs = xcalloc(most, sizeof(*all->jobs));
    all->on_node = xcalloc(node_record_count, sizeof(*all->on_node));
    list_for_each(list, add_candidate, all);
    uint32_t* scratch = xcalloc(node_record_count, sizeof(*scratch));
    for (uint32_t i = 0; i < all->count; i++) {
        job_record_t* job = all->records[i];
        struct room room = {&all->jobs[i], scratch, nodes, all};
        all->jobs[i] = (struct rail_preemptible){
            .number = job->job_id, .order = order_of(job), .started = job->start_time};
        if (job->preempt_time) all->jobs[i].started = time(NULL); /* it ends anyway, at no additional cost */
        each_part(job, take_part, &room);
        uint32_t* own = xcalloc(MAX(room.job->count, 1), sizeof(*own));
        memcpy(own, scratch, room.job->count * sizeof(*own));
        all->jobs[i].nodes = own;
    }
    xfree(scratch);
}

static void discard(struct candidates* all) {
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t* own = (uint32_t*)all->jobs[i].nodes;
        xfree(own);
    }
    xfree(all->records);
    xfree(all->jobs);
    xfree(all->on_node);
}

bool preemption_choose(rail_advisor* advisor, const struct rail_question* question, bitstr_t* nodes,
                       List candidates, struct preemption* found) {
    if (!candidates || !list_count(candidates) || strictly_ordered()) return false;
    struct candidates all = {0};
    collect(candidates, nodes, &all);
    *found = (struct preemption){rail_advisor_preempt(advisor, question, all.jobs, all.count), NULL};
    if (found->takeover) {
        found->jobs = list_create(NULL);
        for (uint32_t i = 0; i < found->takeover->job_count; i++)
            list_append(found->jobs, all.records[found->takeover->jobs[i]]);
    }
    discard(&all);
    return found->takeover != NULL;
}

void preemption_free(struct preemption* preemption) {
    FREE_NULL_LIST(preemption->jobs);
    rail_takeover_free(preemption->takeover);
}

/* The latest choices: Slurm carries one out at once, after a grace time, or never. */
enum { MOST_NOTED = 64 };
static struct noted {
    uint32_t job;
    uint32_t* gone; /* [count] */
    uint32_t count;
    char* why;
} notes[MOST_NOTED]; /* a ring */
static unsigned next_note;

static bool same_choice(const struct noted* note, const struct noted* other) {
    return note->job == other->job && note->count == other->count &&
           !memcmp(note->gone, other->gone, note->count * sizeof(*note->gone));
}

static int take_number(void* item, void* arg) {
    struct noted* note = arg;
    note->gone[note->count++] = ((job_record_t*)item)->job_id;
    return 0;
}

void preemption_note(const job_record_t* job, const struct preemption* preemption) {
    const rail_takeover* takeover = preemption->takeover;
    struct noted note = {job->job_id, xcalloc(takeover->job_count, sizeof(uint32_t)), 0, NULL};
    list_for_each(preemption->jobs, take_number, &note);
    for (int i = 0; i < MOST_NOTED; i++)
        if (notes[i].count && same_choice(&notes[i], &note)) { /* it was made while they still ran */
            xfree(note.gone);
            return;
        }
    struct noted* oldest = &notes[next_note++ % MOST_NOTED];
    xfree(oldest->gone);
    xfree(oldest->why);
    note.why = xstrdup(takeover->attempt.why);
    *oldest = note;
}

static void say(job_record_t* job, const char* text) {
    char* comment = rail_preemption_comment(job->admin_comment, text);
    if (!comment) return;
    xfree(job->admin_comment);
    job->admin_comment = xstrdup(comment);
    free(comment);
    last_job_update = time(NULL);
}

static const struct noted* newest_about(uint32_t gone) {
    for (unsigned back = 1; back <= MOST_NOTED; back++) {
        const struct noted* note = &notes[(next_note - back) % MOST_NOTED];
        for (uint32_t i = 0; i < note->count; i++)
            if (note->gone[i] == gone) return note;
    }
    return NULL;
}

void preemption_ended(job_record_t* job) {
    /* If users may only see their own jobs, they must not learn about others. */
    if (!job->preempt_time || (slurm_conf.private_data & PRIVATE_DATA_JOBS)) return;
    const struct noted* note = newest_about(job->het_job_id ? job->het_job_id : job->job_id);
    if (!note) return;
    job_record_t* winner = find_job_record(note->job);
    if (winner) say(winner, note->why);
    char* text = xstrdup_printf("job %u %s", note->job, note->why);
    say(job, text);
    xfree(text);
}
