/* A vibrating string over MPI: an example of a program that takes part in Railyard through
 * librailckpt(3).
 *
 *     mpicc -O2 -pthread -o waves waves.c -lrailckpt    # then job.sh beside this file
 *     waves [STEPS [PACE_US]]      # PACE_US: sleep after each step, to watch a restart at leisure
 *
 * Rank 0 holds the handle: it asks and tells the others; all copy their part and write it beside their work;
 * when all say that theirs is on the disk rank 0 commits. The result does not depend on how often the job was
 * restarted.
 */
#include <mpi.h>
#include <railckpt.h>

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { points = 4096 }; /* of each rank */
struct state {
    double before[points + 2], now[points + 2]; /* with one point of each neighbour at the ends */
};

static volatile sig_atomic_t leaving; /* Slurm says that the time limit is near: sbatch --signal=USR1@120 */

static void on_signal(int number) {
    (void)number;
    leaving = 1;
}

static void die(const char* text) {
    fprintf(stderr, "waves: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Each rank's part is a file of its own: "r" reads it, "w" writes it and waits until it is on the disk. */
static int part(const char* folder, int rank, struct state* state, const char* mode) {
    char name[4200];
    snprintf(name, sizeof name, "%s/part-%d", folder, rank);
    FILE* file = fopen(name, mode);
    if (file == NULL) return 0;
    int good = *mode == 'r' ? fread(state, sizeof *state, 1, file) == 1
                            : fwrite(state, sizeof *state, 1, file) == 1 && fflush(file) == 0 &&
                                  fsync(fileno(file)) == 0;
    return fclose(file) == 0 && good;
}

static void step(struct state* state, int left, int right) {
    MPI_Sendrecv(&state->now[1], 1, MPI_DOUBLE, left, 0, &state->now[points + 1], 1, MPI_DOUBLE, right, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&state->now[points], 1, MPI_DOUBLE, right, 1, &state->now[0], 1, MPI_DOUBLE, left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= points; ++i)
        state->before[i] = 2 * state->now[i] - state->before[i] +
                           0.25 * (state->now[i - 1] - 2 * state->now[i] + state->now[i + 1]);
    struct state next;
    memcpy(next.now, state->before, sizeof next.now);
    memcpy(next.before, state->now, sizeof next.before);
    *state = next;
}

/* What is written beside the work: a copy of this rank's state, by a thread. */
static struct {
    struct state copy;
    char folder[4096]; /* "": nothing is written */
    int rank, good;
    atomic_int written;
    long step;
    double held; /* seconds that the work stood still */
    pthread_t thread;
} saving;

static void* write_part(void* unused) {
    saving.good = part(saving.folder, saving.rank, &saving.copy, "w");
    atomic_store(&saving.written, 1);
    return unused;
}

/* Publishes the checkpoint when all ranks have written their parts; 0: they have not, and it need not `wait`.
 * A checkpoint that fails is no reason to stop, but one of a job that has been restarted elsewhere is. */
static int publish(railckpt* ck, int rank, int wait) {
    if (saving.folder[0] == '\0') return 1;
    int written = atomic_load(&saving.written), all;
    MPI_Allreduce(&written, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all && !wait) return 0;
    pthread_join(saving.thread, NULL);
    MPI_Allreduce(&saving.good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    saving.folder[0] = '\0';
    if (rank != 0) return 1;
    if (all) railckpt_blocked(ck, saving.held);
    int status = all ? railckpt_commit(ck) : railckpt_abort(ck);
    if (status == RAILCKPT_EFENCED) die(railckpt_message(ck));
    if (all && status == RAILCKPT_OK)
        printf("waves: checkpoint of step %ld\n", saving.step);
    else
        fprintf(stderr, "waves: no checkpoint of step %ld: %s\n", saving.step,
                all ? railckpt_message(ck) : "a part was not written");
    fflush(NULL);
    return 1;
}

/* Begins the checkpoint of `done` steps where one is due. */
static void save_if_due(railckpt* ck, int rank, long done, const struct state* state) {
    char path[sizeof saving.folder] = "";
    const char* stage;
    const double begun = MPI_Wtime();
    if (rank == 0 && (railckpt_due(ck) == 1 || leaving)) {
        leaving = 0;
        int status = railckpt_begin(ck, (uint64_t)done, &stage);
        if (status == RAILCKPT_EFENCED) die(railckpt_message(ck));
        if (status == RAILCKPT_OK)
            snprintf(path, sizeof path, "%s", stage);
        else
            fprintf(stderr, "waves: no checkpoint of step %ld: %s\n", done, railckpt_message(ck));
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (path[0] == '\0') return;
    memcpy(saving.folder, path, sizeof path);
    saving.copy = *state;
    saving.rank = rank;
    saving.step = done;
    saving.good = 0;
    atomic_store(&saving.written, 0);
    if (pthread_create(&saving.thread, NULL, write_part, NULL) != 0) die("cannot start a thread");
    saving.held = MPI_Wtime() - begun;
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    signal(SIGUSR1, on_signal);
    const long steps = argc > 1 ? atol(argv[1]) : 100000, pace_us = argc > 2 ? atol(argv[2]) : 0;

    railckpt* ck = NULL;
    struct railckpt_info last = RAILCKPT_INFO_INIT;
    struct {
        long step;
        char path[4096];
    } from = {0, ""};
    if (rank == 0) {
        if (railckpt_open(NULL, &ck) < 0) die(railckpt_message(NULL));
        if (railckpt_latest(ck, &last) < 0) die(railckpt_message(ck));
        if (last.path != NULL) {
            from.step = (long)last.step;
            snprintf(from.path, sizeof from.path, "%s", last.path);
        }
        printf("waves: start step %ld of %ld, %d ranks\n", from.step, steps, ranks);
        fflush(stdout);
    }
    MPI_Bcast(&from, sizeof from, MPI_BYTE, 0, MPI_COMM_WORLD);

    static struct state state;
    for (int i = 1; i <= points; ++i) /* plucked in the middle */
        state.now[i] = state.before[i] = sin(3.14159265358979 * (rank * points + i) / (ranks * points + 1.0));
    if (from.path[0] != '\0' && !part(from.path, rank, &state, "r")) die("cannot read the checkpoint");

    for (long done = from.step; done < steps;) {
        step(&state, rank > 0 ? rank - 1 : MPI_PROC_NULL, rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL);
        if (++done % 20 == 0 && publish(ck, rank, 0)) /* a step is short: ask at times */
            save_if_due(ck, rank, done, &state);
        if (pace_us > 0) usleep((useconds_t)pace_us);
    }
    publish(ck, rank, 1);
    double sum = 0, total = 0;
    for (int i = 1; i <= points; ++i)
        sum += state.now[i] * state.now[i];
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("waves: done, %.17g\n", total);
    railckpt_close(ck);
    MPI_Finalize();
    return 0;
}
