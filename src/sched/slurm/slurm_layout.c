#define _GNU_SOURCE /* pipe2, syscall */
#include "slurm_inside.h"

#include "slurm_layout.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 22.05 is one fixed release, and its records have other names. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)

extern const char plugin_type[];

enum { UNKNOWN, SOUND, OTHER };
static atomic_int nodes_are, jobs_are;

enum { MOST_VARIABLES = 1 << 20 }; /* more than Slurm allows in a job's environment */

/* Logged once: `what` does not match. */
static bool another(atomic_int* are, const char* what) {
    if (atomic_exchange(are, OTHER) != OTHER)
        error("%s: the %s is not that of Slurm %s as this plugin was built with it: Slurm decides alone. "
              "Build the plugin with the source of this very slurmctld, its patches included "
              "(configure --with-slurm-src), and restart slurmctld",
              plugin_type, what, SLURM_VERSION_STRING);
    return false;
}

/* No file descriptor was available for a check: nothing is known, and the next question checks again. */
static _Thread_local bool blind;

/* Copies the data at a possibly invalid pointer. The kernel does the access, so an invalid one is an
 * error, not a crash; the raw system call avoids a sanitizer that intercepts write(). A pipe takes this
 * few bytes at once. */
static bool peek(const void* from, void* to, size_t size) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
        blind = true;
        return false;
    }
    const bool done =
        syscall(SYS_write, ends[1], from, size) == (long)size && read(ends[0], to, size) == (ssize_t)size;
    close(ends[0]);
    close(ends[1]);
    return done;
}

/* Whether the number at this address has the expected value. */
static bool has_number(const uint32_t* at, uint32_t wanted) {
    uint32_t found;
    return peek(at, &found, sizeof(found)) && found == wanted;
}

static bool is_node(const node_record_t* node, int index) {
    char name[1];
    int32_t at;
    return has_number(&node->magic, NODE_MAGIC) && peek(&node->index, &at, sizeof(at)) && at == index &&
           peek(node->name, name, sizeof(name)) && name[0];
}

bool layout_of_nodes(void) {
    int are = atomic_load(&nodes_are);
    if (are != UNKNOWN) return are == SOUND;
    blind = false;
    if (node_record_count < 0 || node_record_count > MAX_SLURM_NODES)
        return another(&nodes_are, "count of nodes");
    for (int i = 0; i < node_record_count; i++) {
        if (!node_record_table_ptr[i]) continue;
        if (!is_node(node_record_table_ptr[i], i)) return blind || another(&nodes_are, "node table");
        atomic_compare_exchange_strong(&nodes_are, &are, SOUND);
        break; /* they are all created in the same way */
    }
    return true;
}

/* Whether it is a Slurm release, no newer than this one: a non-zero number above a zero byte. A job may
 * have survived upgrades from any older release. */
static bool is_protocol(uint16_t version) {
    return version && !(version & 0xff) && version <= SLURM_PROTOCOL_VERSION;
}

/* In the order of the structure: members before, between and after those that we use. */
static const char* wrong_in(const job_record_t* job) {
    const job_details_t* details = job->details;
    if (!has_number(&job->magic, JOB_MAGIC)) return "job record (its magic number)";
    if (!details || !has_number(&details->magic, DETAILS_MAGIC)) return "job record (details)";
    if (!job->job_id || job->job_id > MAX_JOB_ID) return "job record (job_id)";
    if (job->part_ptr && !has_number(&job->part_ptr->magic, PART_MAGIC)) return "job record (part_ptr)";
    if (job->spank_job_env_size > MOST_VARIABLES || (job->spank_job_env_size && !job->spank_job_env))
        return "job record (spank_job_env)";
    if (!is_protocol(job->start_protocol_ver)) return "job record (start_protocol_ver)";
    /* Not read as a bool, for which other values are undefined. */
    unsigned char best;
    memcpy(&best, &job->best_switch, 1);
    return best > 1 ? "job record (best_switch)" : NULL;
}

bool layout_of_job(const job_record_t* job) {
    int are = atomic_load(&jobs_are);
    if (are != UNKNOWN) return are == SOUND;
    if (!layout_of_nodes()) return false;
    /* A reservation asks on behalf of a job without a number, and with little else. If the number is read
     * from a wrong offset, every job looks like this, so another job is examined. */
    if (has_number(&job->magic, JOB_MAGIC) && !job->job_id) {
        job = job_list ? list_peek(job_list) : NULL;
        if (!job) return false; /* nothing is known; the stock plugin answers */
    }
    const char* wrong = wrong_in(job);
    if (wrong) return !blind && another(&jobs_are, wrong);
    atomic_compare_exchange_strong(&jobs_are, &are, SOUND);
    return true;
}

#endif
