#include "slurm_inside.h"

#include "slurm_question.h"

#include <pthread.h>
#include <string.h>

enum { SUBMISSION = 5 }; /* a job this young (seconds) is considered being submitted */

extern const char plugin_type[];

void question_log(enum rail_level level, const char* text) {
    if (level == RAIL_LOG_ERROR)
        error("%s: %s", plugin_type, text);
    else
        info("%s: %s", plugin_type, text);
}

/* The node table as last passed to the advisor. */
static struct {
    pthread_mutex_t mutex;
    node_record_t** records; /* [count], NULL: a hole */
    char** names;            /* [count], NULL: a hole */
    int count;
    time_t at; /* when the names were last compared with Slurm's */
} told = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const char* name_of(int index) {
    return node_record_table_ptr[index] ? node_record_table_ptr[index]->name : NULL;
}

static bool same_records(void) {
    return told.count == node_record_count &&
           !memcmp(told.records, node_record_table_ptr, told.count * sizeof(*told.records));
}

static bool same_names(void) {
    for (int i = 0; i < told.count; i++)
        if (xstrcmp(told.names[i], name_of(i))) return false;
    return true;
}

/* A new node may have the address of a deleted one. Each start of a job also counts as a change of nodes,
 * so names are compared at most once a second, the resolution of the time stamp. */
static bool may_have_changed(void) {
    if (!told.records || !same_records()) return true;
    return last_node_update >= told.at && time(NULL) > told.at;
}

void question_map_nodes(rail_advisor* advisor) {
    pthread_mutex_lock(&told.mutex);
    if (may_have_changed()) {
        const bool known = told.records && told.count == node_record_count && same_names();
        told.at = time(NULL);
        for (int i = 0; i < told.count && !known; i++)
            xfree(told.names[i]);
        told.count = node_record_count;
        xrecalloc(told.records, MAX(told.count, 1), sizeof(*told.records));
        memcpy(told.records, node_record_table_ptr, told.count * sizeof(*told.records));
        if (!known) {
            xrecalloc(told.names, MAX(told.count, 1), sizeof(*told.names));
            for (int i = 0; i < told.count; i++)
                told.names[i] = xstrdup(name_of(i));
            rail_advisor_set_nodes(advisor, (const char* const*)told.names, told.count);
        }
    }
    pthread_mutex_unlock(&told.mutex);
}

void question_take_hints(const job_record_t* job, struct rail_question* question) {
    rail_hints_of(job->admin_comment, (const char* const*)job->spank_job_env, job->spank_job_env_size,
                  &question->hints);
    question->admin_comment = job->admin_comment;
    question->restarts = job->restart_cnt;
    question->now = time(NULL);
    question->eligible = MAX(job->details->submit_time, job->details->begin_time);
}

uint32_t question_spare_floor(rail_advisor* advisor, const job_record_t* job, const bitstr_t* candidates,
                              bool ever) {
    if (job->restart_cnt || !rail_advisor_spare_floor(advisor, NULL, 0)) return 0;
    uint32_t* others = xcalloc(node_record_count, sizeof(*others));
    uint32_t count = 0;
    for (int i = 0; i < node_record_count; i++)
        if (!bit_test((bitstr_t*)candidates, i) &&
            (ever || (bit_test(idle_node_bitmap, i) && bit_test(avail_node_bitmap, i))))
            others[count++] = i;
    const uint32_t floor = rail_advisor_spare_floor(advisor, others, count);
    xfree(others);
    return floor;
}

uint8_t* question_required(const job_record_t* job) {
    bitstr_t* nodes = job->details->req_node_bitmap;
    if (!nodes) return NULL;
    uint8_t* required = xcalloc(node_record_count, sizeof(*required));
    for (int i = 0; i < node_record_count; i++)
        required[i] = bit_test(nodes, i);
    return required;
}

bool question_shares_cores(const job_record_t* job) {
    const uint16_t most = job->part_ptr ? job->part_ptr->max_share : 1;
    return (most & SHARED_FORCE) || (most > 1 && job->details->share_res == 1);
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define LEAST_LOADED SELECT_LLN
#else
#define LEAST_LOADED CR_LLN
#endif

bool question_packs(const rail_advisor* advisor, const job_record_t* job) {
    const bool spreads = (slurm_conf.select_type_param & LEAST_LOADED) || (job->bit_flags & SPREAD_JOB) ||
                         (job->part_ptr && (job->part_ptr->flags & PART_FLAG_LLN));
    return rail_advisor_packs_all(advisor) && !spreads && !question_shares_cores(job);
}

bool question_is_submission(const job_record_t* job) {
    return !job->restart_cnt && time(NULL) <= job->details->submit_time + SUBMISSION;
}
