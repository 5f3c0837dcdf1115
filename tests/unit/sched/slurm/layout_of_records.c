/* What keeps the plugins from reading records that are laid out otherwise (sched/slurm/slurm_layout.h), over
 * records made here with the headers of a real release: a job as slurmctld has it, and the same with members
 * moved, as by a patch of a distribution. Each case in a process of its own, since what was found stays. */
#include "slurm_inside.h"

#include "slurm_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

const char plugin_type[] = "topology/rail";
int node_record_count = 2;
node_record_t** node_record_table_ptr;
list_t* job_list;

/* slurmctld's, as far as they are called. */
static int told;
static void* first_job;
extern int error(const char* format, ...) {
    (void)format;
    return told++;
}
extern void* list_peek(list_t* list) {
    (void)list;
    return first_job;
}

#define WANT(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "layout_of_records: line %d: not %s\n", __LINE__, #condition);                   \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static node_record_t nodes[2];
static job_details_t details;
static part_record_t partition;
/* Room behind it for what is moved. */
static struct {
    job_record_t job;
    char behind[64];
} whole;
static job_record_t* const job = &whole.job;

static void make_records(void) {
    static node_record_t* table[2] = {&nodes[0], &nodes[1]};
    static char name[] = "n001";
    static char* variables[1];
    node_record_table_ptr = table;
    for (int i = 0; i < 2; i++) {
        nodes[i].magic = NODE_MAGIC;
        nodes[i].index = i;
        nodes[i].name = name;
    }
    details.magic = DETAILS_MAGIC;
    partition.magic = PART_MAGIC;
    job->magic = JOB_MAGIC;
    job->details = &details;
    job->job_id = 1234;
    job->part_ptr = &partition;
    job->spank_job_env = variables;
    job->spank_job_env_size = 1;
    job->start_protocol_ver = SLURM_PROTOCOL_VERSION;
    job->best_switch = true;
    job_list = (list_t*)&told; /* of which only list_peek() knows anything */
    first_job = job;
}

/* Moves all members behind `after` by so many bytes: what a plugin sees that was built without another one.
 */
static void move_behind(void* after, size_t bytes) {
    char* from = after;
    memmove(from + bytes, from, (size_t)((char*)(job + 1) - from));
    memset(from, 0, bytes);
}

static void sound(void) {
    WANT(layout_of_nodes() && layout_of_job(job) && told == 0);
    memset(&whole, 0, sizeof(whole)); /* what is known is not looked at again */
    WANT(layout_of_job(job) && told == 0);
}

static void refused(void) {
    WANT(!layout_of_job(job));
    WANT(told == 1);
    make_records();
    WANT(!layout_of_job(job)); /* not trusted any more */
    WANT(told == 1);
}

static void a_member_more_at_the_start(void) {
    move_behind(job, 8);
    refused();
}
static void a_member_more_behind_the_flags(void) {
    move_behind(&job->burst_buffer, 8);
    refused();
}
static void details_that_point_nowhere(void) {
    job->details = (void*)0x10;
    refused();
}
static void details_that_point_elsewhere(void) {
    job->details = (void*)&nodes[0];
    refused();
}
static void a_member_more_behind_the_details(void) {
    move_behind(&job->end_time, 8);
    refused();
}
static void a_number_out_of_range(void) {
    job->job_id = MAX_JOB_ID + 1;
    refused();
}
static void a_partition_that_points_nowhere(void) {
    job->part_ptr = (void*)0x100000000000;
    refused();
}
static void variables_without_end(void) {
    job->spank_job_env_size = UINT32_MAX;
    refused();
}
static void a_release_that_never_was(void) {
    job->start_protocol_ver = 7;
    refused();
}
static void a_flag_that_is_none(void) {
    memset(&job->best_switch, 0x7f, 1);
    refused();
}

/* A job without a number is a reservation's, unless every job looks so. */
static void no_number_and_no_other_job(void) {
    job->job_id = 0;
    job->details = NULL;
    first_job = NULL;
    WANT(!layout_of_job(job) && told == 0);
    make_records();
    WANT(layout_of_job(job) && told == 0);
}
static void no_number_in_any_job(void) {
    job->job_id = 0;
    refused();
}

static void a_node_table_of_another_kind(void) {
    nodes[0].index = 7;
    WANT(!layout_of_nodes() && told == 1);
    WANT(!layout_of_job(job) && !layout_of_nodes() && told == 1);
}
static void more_nodes_than_there_can_be(void) {
    node_record_count = MAX_SLURM_NODES + 1;
    WANT(!layout_of_nodes() && told == 1);
}
static void nodes_that_point_nowhere(void) {
    node_record_table_ptr[0] = (void*)0x20;
    WANT(!layout_of_nodes() && told == 1);
}
/* slurmctld has used up its file descriptors: no answer is not a wrong one. */
static void nothing_to_look_with(void) {
    struct rlimit before, none;
    WANT(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = before;
    none.rlim_cur = 3;
    WANT(setrlimit(RLIMIT_NOFILE, &none) == 0);
    WANT(layout_of_nodes() && !layout_of_job(job) && told == 0);
    WANT(setrlimit(RLIMIT_NOFILE, &before) == 0);
    WANT(layout_of_job(job) && told == 0);
}

static void no_nodes_yet(void) {
    node_record_count = 0;
    WANT(layout_of_nodes() && told == 0);
    node_record_count = 2;
    nodes[0].magic = 0;
    WANT(!layout_of_nodes() && told == 1);
}

int main(void) {
    static void (*const cases[])(void) = {
        sound,
        a_member_more_at_the_start,
        a_member_more_behind_the_flags,
        details_that_point_nowhere,
        details_that_point_elsewhere,
        a_member_more_behind_the_details,
        a_number_out_of_range,
        a_partition_that_points_nowhere,
        variables_without_end,
        a_release_that_never_was,
        a_flag_that_is_none,
        no_number_and_no_other_job,
        no_number_in_any_job,
        a_node_table_of_another_kind,
        more_nodes_than_there_can_be,
        nodes_that_point_nowhere,
        no_nodes_yet,
        nothing_to_look_with,
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            make_records();
            cases[i]();
            _exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "layout_of_records: case %zu failed, status %#x\n", i, (unsigned)status);
            failed = 1;
        }
    }
    return failed;
}
