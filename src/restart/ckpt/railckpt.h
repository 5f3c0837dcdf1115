/* librailckpt: the checkpoint contract between a job and Railyard. C API; see librailckpt(3).
 *
 * A program asks whether a checkpoint is due, writes it into a staging directory and commits it:
 *
 *     railckpt *ck;
 *     if (railckpt_open(NULL, &ck) < 0) die(railckpt_message(NULL));
 *     struct railckpt_info last = RAILCKPT_INFO_INIT;
 *     if (railckpt_latest(ck, &last) == RAILCKPT_OK) read_state(last.path);
 *     for (...) {
 *         compute();
 *         if (railckpt_due(ck) == 1) {
 *             const char *path;
 *             if (railckpt_begin(ck, step, &path) == RAILCKPT_OK) {
 *                 write_state(path);            // any number of files, by any number of processes
 *                 railckpt_commit(ck);          // checksums, fsync, manifest, one rename(2)
 *             }
 *         }
 *     }
 *     railckpt_close(ck);
 *
 * In a parallel program one process (rank 0) holds the handle: it asks, broadcasts the answer and the path,
 * all write and close their files, a barrier, then it commits.
 *
 * Guarantees. A checkpoint is seen whole or not at all: a crash at any moment, a full disk or a failed write
 * leaves the ones before it untouched. An incarnation of the job that was restarted elsewhere (an older
 * restart count) cannot publish any more: it is fenced off by the file DIR/epoch. Nothing with more steps
 * than the newest checkpoint is removed, and nothing of another job.
 *
 * The library starts no threads, no processes except squeue(1) if another job owned the directory, installs
 * no signal handlers, writes nothing to the standard streams and does not end the process. Units are seconds
 * and bytes. A handle may be used by one thread at a time; different handles are independent. Returned
 * strings belong to the handle and are valid until the next call on it. A handle is invalid in the child of
 * fork(2).
 */
#ifndef RAILCKPT_H
#define RAILCKPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct railckpt railckpt;

/* What functions return. Failures are below zero; railckpt_message() then has the message to print. */
enum railckpt_status {
    RAILCKPT_OK = 0,
    RAILCKPT_NONE = 1,       /* railckpt_latest: there is no valid checkpoint */
    RAILCKPT_EUSAGE = -1,    /* an argument, an environment variable or the order of calls makes no sense */
    RAILCKPT_ECORRUPT = -2,  /* a file of the directory is malformed */
    RAILCKPT_ENOENT = -3,    /* the directory, or the staging directory, does not exist */
    RAILCKPT_EFENCED = -4,   /* a later incarnation, or another job, owns the directory: stop */
    RAILCKPT_EBUSY = -5,     /* another process is writing a checkpoint there; retry later */
    RAILCKPT_EEXIST = -6,    /* this step has been committed before */
    RAILCKPT_EIO = -7,       /* the operating system refused: no space, no permission, an I/O error */
    RAILCKPT_EINTERNAL = -8  /* out of memory, or a bug */
};

struct railckpt_options {
    size_t size;        /* sizeof(struct railckpt_options), set by RAILCKPT_OPTIONS_INIT */
    const char *dir;    /* checkpoint directory, which must exist; NULL: RAIL_CKPT_DIR */
    const char *socket; /* nodewatchd's job socket; "": none; NULL: RAIL_CKPT_SOCKET, none if unset */
    int64_t job;        /* job number; -1: SLURM_JOB_ID, 0 if unset (0: not in a job) */
    int64_t restart;    /* how often the job was restarted, 0..9999; -1: SLURM_RESTART_COUNT, 0 if unset */
    unsigned keep;      /* committed checkpoints to keep, from 1; 0: RAIL_CKPT_KEEP, 2 if unset */
    int read_only;      /* not 0: only look; takes no part in fencing, refuses railckpt_begin */
    double interval_s;  /* interval without an agent, seconds; 0: RAIL_CKPT_INTERVAL, else from mtbf_s */
    double mtbf_s;      /* mean time between failures of the job, seconds; 0: RAIL_CKPT_MTBF, else a day */
    int64_t
        take_over; /* job to fence off, the current owner of DIR; -1: RAIL_CKPT_TAKE_OVER, else none */
};
#define RAILCKPT_OPTIONS_INIT {sizeof(struct railckpt_options), NULL, NULL, -1, -1, 0, 0, 0.0, 0.0, -1}

/* Opens the directory and, unless read_only, claims it for this incarnation of the job: from then on older
 * incarnations are fenced off. A directory of another job is taken over if squeue(1) no longer lists that job
 * (waits at most 10 s) or take_over names it; railckpt_message(*out) then reports it. `options` may be NULL:
 * everything from the environment. On success *out owns the handle (railckpt_close frees it); on failure *out
 * is NULL and railckpt_message(NULL) has the reason. Errors: EUSAGE, ECORRUPT (DIR/epoch), ENOENT, EFENCED,
 * EBUSY, EIO, EINTERNAL. */
int railckpt_open(const struct railckpt_options *options, railckpt **out);

/* Frees the handle; a checkpoint begun and not committed is aborted. NULL is allowed. */
void railckpt_close(railckpt *ck);

/* 1: write a checkpoint now; 0: not yet. Cheap enough for every step: nodewatchd is queried at most every 200
 * ms, for at most 100 ms. A request of Railyard to save makes it due at once; otherwise it is due when the
 * interval has passed since the last commit (or since open). Without an agent the interval is interval_s, or
 * Young's sqrt(2 cost mtbf) from the measured cost, limited to 10 s to 12 h; 5 minutes until a cost is known.
 * railckpt_message() has the reason. Errors: EUSAGE, EINTERNAL. */
int railckpt_due(railckpt *ck);

/* The current interval in seconds; below zero on EUSAGE. Does not query nodewatchd. */
double railckpt_interval(const railckpt *ck);

/* Starts the checkpoint of `step` (0..999999999999) and the clock that measures its cost. *path becomes the
 * staging directory, absolute: write regular files and directories into it, none named MANIFEST.json, no
 * links. It belongs to this checkpoint until commit or abort. Leftovers of crashed checkpoints of this and
 * older incarnations are removed first. Errors: EUSAGE (read-only, already begun), EFENCED, EBUSY, EEXIST,
 * EIO, EINTERNAL. */
int railckpt_begin(railckpt *ck, uint64_t step, const char **path);

/* States that the checkpoint in progress stopped the program for only `seconds` in total, because it was
 * copied in memory and is written concurrently, by another thread or process. The checkpoint interval is
 * based on that time alone; without this call all of the time from begin to commit counts. Call begin when
 * the copy begins: the time that a job gets to save before it is moved is based on how long it takes until
 * the checkpoint is safe. Call between begin and commit; a later call replaces an earlier one. Errors: EUSAGE
 * (nothing begun, or below 0). */
int railckpt_blocked(railckpt *ck, double seconds);

/* Publishes the checkpoint in progress: XXH3-128 of each file, fsync of files and directories, MANIFEST.json,
 * rename(2) to DIR/ckpt-E<epoch>-S<step>; then older checkpoints of this job beyond `keep` are removed,
 * except those with more steps, and the commit is reported to nodewatchd. A file with several links is copied
 * first. All writers must have closed their files; on a network file system each must fsync(2) what it wrote,
 * as one host cannot flush another's cache. Reads every byte once. On failure nothing is published and the
 * staging directory is removed. Errors: EUSAGE (nothing begun, a link or a special file, a name that is not
 * UTF-8), ENOENT, EFENCED, EBUSY, EEXIST, EIO, EINTERNAL. */
int railckpt_commit(railckpt *ck);

/* Removes the checkpoint in progress, if any. Errors: EUSAGE, EIO (something is left behind). */
int railckpt_abort(railckpt *ck);

struct railckpt_info {
    size_t size;       /* sizeof(struct railckpt_info), set by RAILCKPT_INFO_INIT */
    const char *path;  /* the checkpoint's directory, absolute */
    uint64_t step;
    unsigned epoch;    /* incarnation that wrote it */
    unsigned files;    /* without the manifest */
    uint64_t bytes;    /* of all files */
    double time_s;     /* when it was committed, seconds since 1970 */
    double cost_s;     /* what it cost the job, seconds */
    unsigned skipped;  /* newer ones skipped because they are damaged; railckpt_message() names them */
};
#define RAILCKPT_INFO_INIT {sizeof(struct railckpt_info), NULL, 0, 0, 0, 0, 0.0, 0.0, 0}

/* Step marks: find the host that delays a job although all of its processes wait for each other. Every
 * process of the job makes its own, also those without a railckpt; no checkpoint directory is needed.
 *
 *     railckpt_marks *marks;
 *     railckpt_marks_open(&marks);            // from the environment of the job
 *     for (...) {
 *         compute();
 *         double before = now();
 *         exchange_with_others();             // a collective, halos, a barrier
 *         railckpt_mark(marks, now() - before);
 *     }
 *     railckpt_marks_close(marks);
 */
typedef struct railckpt_marks railckpt_marks;

/* Starts marks of this process, configured by RAIL_CKPT_SOCKET, SLURM_JOB_ID, SLURM_RESTART_COUNT and
 * SLURM_PROCID (its rank). Outside of a job, or without nodewatchd, marks have no effect and cost nothing.
 * *out owns the result; on failure it is NULL, and railckpt_message(NULL) has the reason. Errors: EUSAGE,
 * EINTERNAL. */
int railckpt_marks_open(railckpt_marks **out);

/* A step has ended; since the last mark the process waited for others, or for their data, for waited_s
 * seconds. The first mark starts the count. Reported to nodewatchd at most every 5 s, waiting at most 100 ms;
 * the job continues if it does not answer. Returns OK, also then; EUSAGE for NULL; EINTERNAL. */
int railckpt_mark(railckpt_marks *marks, double waited_s);

/* Ends the marks. NULL is allowed. */
void railckpt_marks_close(railckpt_marks *marks);

/* The newest valid checkpoint: highest epoch, then highest step; railckpt_message() names one with more
 * steps, from which the job did not continue. The first call on a handle reads all its files and verifies
 * their checksums; later calls check the manifest and the files' sizes. Returns OK, NONE, or EUSAGE, EIO,
 * EINTERNAL. */
int railckpt_latest(railckpt *ck, struct railckpt_info *info);

/* The message of the last call on this handle: an error, why a checkpoint is due, what latest skipped; "" if
 * there is none. With NULL: why the last railckpt_open in this thread failed. */
const char *railckpt_message(const railckpt *ck);

/* A fixed short text for a status; never NULL. Thread-safe. */
const char *railckpt_strerror(int status);

#ifdef __cplusplus
}
#endif

#endif
