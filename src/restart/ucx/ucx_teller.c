#define _GNU_SOURCE
#include "restart/ucx/ucx_teller.h"

#include "restart/ucx/ucx_resends.h"
#include "restart/ucx/ucx_view.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { gather_ms = 500, answer_ms = 2000, seldom_ms = 10000, longest_line = 8192, stack_bytes = 256 * 1024 };
enum { first_pause_ms = 1000, longest_pause_ms = 60000 };

/* A descriptor of ours, and the identity of its file when it was opened: if a program closes descriptors that
 * it does not own, and then opens others, our lines must not go into those. */
struct held {
    int fd;
    ino_t inode;
    dev_t device;
};

static atomic_int begun, awake;
static pthread_mutex_t dumping =
    PTHREAD_MUTEX_INITIALIZER; /* held while libucs sends, and forever once it ends */
static _Atomic(void (*)(void)) dump;
static struct held event = {-1, 0, 0}, agent = {-1, 0, 0};

static struct held hold(int fd) {
    struct stat file;
    struct held one = {fd, 0, 0};
    if (fd >= 0 && fstat(fd, &file) == 0) {
        one.inode = file.st_ino;
        one.device = file.st_dev;
    }
    return one;
}

/* All eventfds share one inode: for them only the kind is checked. */
static int is_ours(const struct held* one) {
    struct stat file;
    return one->fd >= 0 && fstat(one->fd, &file) == 0 && file.st_ino == one->inode &&
           file.st_dev == one->device;
}

static void drop(struct held* one) {
    if (is_ours(one)) close(one->fd);
    one->fd = -1;
}

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct sockaddr_un agent_at; /* set from the environment by begin(), in the program's own thread */

/* Connecting to a Unix socket never waits: an agent with a full queue refuses at once (EAGAIN). */
static int reach_agent(void) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return 0;
    if (connect(fd, (const struct sockaddr*)&agent_at, sizeof agent_at) != 0) {
        close(fd);
        return 0;
    }
    agent = hold(fd);
    return 1;
}

/* Sends one line and reads its answer. 0: the agent is gone, does not answer or does not recognize us. */
static int say(const char* line, size_t length) {
    const long long until = now_ms() + answer_ms;
    char answer[512];
    for (size_t sent = 0, got = 0;;) {
        if (!is_ours(&agent)) return 0;
        const long long left = until - now_ms();
        struct pollfd one = {agent.fd, sent < length ? POLLOUT : POLLIN, 0};
        const int ready = left > 0 ? poll(&one, 1, (int)left) : 0;
        if (ready == 0 || (ready < 0 && errno != EINTR)) return 0;
        if (ready < 0) continue;
        const ssize_t n = sent < length ? send(agent.fd, line + sent, length - sent, MSG_NOSIGNAL)
                                        : recv(agent.fd, answer + got, sizeof answer - 1 - got, 0);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return 0;
        if (sent < length) {
            sent += (size_t)n;
            continue;
        }
        got += (size_t)n;
        answer[got] = '\0';
        if (strchr(answer, '\n') != NULL) return strstr(answer, "\"ok\":true") != NULL;
        if (got + 1 == sizeof answer) return 0;
    }
}

static void sleep_ms(int ms) {
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
}

/* At exit, libucs destroys its counters without a lock that it would share with us. */
static void send_statistics(void) {
    void (*send_them)(void) = atomic_load(&dump);
    if (send_them == NULL || pthread_mutex_trylock(&dumping) != 0) return;
    send_them();
    pthread_mutex_unlock(&dumping);
}

static void at_exit(void) {
    pthread_mutex_lock(&dumping);
}

void ry_ucx_dump_with(void (*send_them)(void)) {
    void (*none)(void) = NULL;
    if (atomic_compare_exchange_strong(&dump, &none, send_them)) atexit(at_exit);
}

static void look_at_resends(void) {
    char peer[64];
    const unsigned long long sum = ry_ucx_resends(peer, sizeof peer);
    if (peer[0] != '\0') ry_ucx_resent(sum, peer);
}

/* Waits until there is something new, the agent has gone (-1: none), or `ms` have passed (-1: forever). */
static void wait_for_news(int ms) {
    struct pollfd both[2] = {{event.fd, POLLIN, 0}, {agent.fd, POLLIN, 0}};
    if (poll(both, 2, ms) <= 0) return;
    uint64_t count;
    if ((both[0].revents & POLLIN) != 0 && read(event.fd, &count, sizeof count) < 0) return;
    if (both[1].revents != 0) drop(&agent); /* it never sends unrequested data: it has gone */
}

static void* run(void* unused) {
    (void)unused;
    static char line[longest_line];
    unsigned long told = 0;
    int pause = first_pause_ms;
    long long looked = now_ms();
    while (is_ours(&event)) {
        const int tcp = ry_ucx_uses_tcp();
        const int seldom = tcp || atomic_load(&dump) != NULL;
        if (seldom && now_ms() - looked >= seldom_ms) {
            if (tcp) look_at_resends();
            send_statistics();
            looked = now_ms();
        }
        const int news = ry_ucx_changes() != told || agent.fd < 0;
        if (!news) {
            atomic_store(&awake, 0); /* before the last look, so that no change is missed */
            if (ry_ucx_changes() == told) wait_for_news(seldom ? seldom_ms : -1);
            atomic_store(&awake, 1);
            continue;
        }
        unsigned long changes = 0;
        const size_t length = ry_ucx_line(line, sizeof line, &changes);
        if (length > 0 && (agent.fd >= 0 || reach_agent()) && say(line, length)) {
            told = changes;
            pause = first_pause_ms;
            sleep_ms(gather_ms); /* more endpoints usually follow: at most two lines a second */
            continue;
        }
        drop(&agent);
        sleep_ms(pause);
        pause = pause * 2 < longest_pause_ms ? pause * 2 : longest_pause_ms;
    }
    return NULL;
}

/* For programs whose thread-local data leave no room in a small stack. */
static int start_anyway(pthread_t* thread) {
    if (pthread_create(thread, NULL, run, NULL) != 0) return 0;
    pthread_detach(*thread);
    return 1;
}

static void begin(void) {
    const char* path = getenv("RAIL_CKPT_SOCKET");
    if (path == NULL || path[0] == '\0' || strlen(path) >= sizeof agent_at.sun_path) return;
    if (getenv("SLURM_JOB_ID") == NULL && getenv("RAIL_JOB_ID") == NULL) return;
    memset(&agent_at, 0, sizeof agent_at);
    agent_at.sun_family = AF_UNIX;
    strcpy(agent_at.sun_path, path);
    ry_ucx_remember();
    event = hold(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (event.fd < 0) return;
    atomic_store(&awake, 1);
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, &attributes, run, NULL) == 0 || start_anyway(&thread))
        pthread_setname_np(thread, "railucx");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

void ry_ucx_tell(void) {
    if (atomic_exchange(&begun, 1) == 0) begin();
    if (atomic_exchange(&awake, 1) != 0 || !is_ours(&event)) return;
    const uint64_t one = 1;
    if (write(event.fd, &one, sizeof one) < 0) return; /* it is awake already */
}

void ry_ucx_teller_child(void) {
    drop(&event);
    drop(&agent);
    atomic_store(&dump, NULL); /* it belongs to the parent's statistics */
    dumping = (pthread_mutex_t)
        PTHREAD_MUTEX_INITIALIZER; /* a thread of the parent may hold it, and exit() waits for it */
    atomic_store(&begun, 0);
    atomic_store(&awake, 0);
}
