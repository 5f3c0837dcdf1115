#include "restart/ucx/ucx_view.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the agent (wire/job_lines.cpp), and of memory: beyond them items are counted together. */
enum { most_paths = 16, longest_path = 160, most_lanes = 8, longest_lane = 48, longest_text = 200 };
enum { most_peers = 256, longest_peer = 64, first_endpoints = 256, most_endpoints = 1 << 20 };

struct path {
    char over[longest_path]; /* "rc_mlx5/mlx5_0:1", with several lanes "cma/memory+tcp/eth0" */
    unsigned long endpoints;
    uint16_t to; /* a known peer of one of them: its index + 1 */
};

struct endpoint {
    const void* it; /* NULL: this slot is free */
    const void* worker;
    uint16_t path, peer; /* peer: its index + 1; 0: unknown */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct path paths[most_paths];
    size_t path_count;
    char peers[most_peers][longest_peer];
    size_t peer_count;
    struct endpoint* endpoints; /* open addressing, a power of two */
    size_t room, used;
    unsigned long long failed, timeouts, refused, resent;
    char last[longest_text], unseen[longest_text], resent_to[longest_peer];
    unsigned long changes;
} view;

/* Foreign text goes into a JSON line: characters that would need an escape are not part of a name. */
static void put_text(char* into, size_t size, const char* text) {
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < size; ++n) {
        const unsigned char c = (unsigned char)text[n];
        into[n] = c < 0x20 || c > 0x7e || c == '"' || c == '\\' ? '?' : (char)c;
    }
    into[n] = '\0';
}

static size_t place_of(const struct endpoint* table, size_t room, const void* it) {
    uint64_t hash = (uint64_t)(uintptr_t)it;
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdULL;
    size_t at = (size_t)(hash ^ (hash >> 29)) & (room - 1);
    while (table[at].it != NULL && table[at].it != it)
        at = (at + 1) & (room - 1);
    return at;
}

static int grow(void) {
    const size_t room = view.room == 0 ? first_endpoints : view.room * 2;
    if (room > most_endpoints) return 0;
    struct endpoint* table = calloc(room, sizeof *table);
    if (table == NULL) return 0;
    for (size_t i = 0; i < view.room; ++i)
        if (view.endpoints[i].it != NULL)
            table[place_of(table, room, view.endpoints[i].it)] = view.endpoints[i];
    free(view.endpoints);
    view.endpoints = table;
    view.room = room;
    return 1;
}

static struct endpoint* find(const void* it) {
    if (view.room == 0 || it == NULL) return NULL;
    struct endpoint* found = &view.endpoints[place_of(view.endpoints, view.room, it)];
    return found->it == NULL ? NULL : found;
}

/* Later entries move up, so that no search ends too soon. */
static void take_out(struct endpoint* one) {
    struct path* way = &view.paths[one->path];
    --way->endpoints;
    if (way->to == one->peer) way->to = 0; /* replaced by that of the next new endpoint */
    --view.used;
    size_t hole = (size_t)(one - view.endpoints);
    one->it = NULL;
    for (size_t at = (hole + 1) & (view.room - 1); view.endpoints[at].it != NULL;
         at = (at + 1) & (view.room - 1)) {
        const struct endpoint moved = view.endpoints[at];
        view.endpoints[at].it = NULL;
        view.endpoints[place_of(view.endpoints, view.room, moved.it)] = moved;
    }
}

static uint16_t path_number(const char* over) {
    for (size_t i = 0; i < view.path_count; ++i)
        if (strcmp(view.paths[i].over, over) == 0) return (uint16_t)i;
    /* Reuse an earlier one that is no longer used. */
    for (size_t i = 0; i < view.path_count; ++i)
        if (view.paths[i].endpoints == 0) {
            put_text(view.paths[i].over, longest_path, over);
            view.paths[i].to = 0;
            return (uint16_t)i;
        }
    if (view.path_count == most_paths) {
        put_text(view.paths[most_paths - 1].over, longest_path, "other");
        return most_paths - 1;
    }
    put_text(view.paths[view.path_count].over, longest_path, over);
    return (uint16_t)view.path_count++;
}

static uint16_t peer_number(const char* peer) {
    if (peer[0] == '\0') return 0;
    for (size_t i = 0; i < view.peer_count; ++i)
        if (strcmp(view.peers[i], peer) == 0) return (uint16_t)(i + 1);
    if (view.peer_count == most_peers) return 0;
    put_text(view.peers[view.peer_count], longest_peer, peer);
    return (uint16_t)++view.peer_count;
}

/* "tcp/eth0" in "lane[0]:  2:tcp/eth0.0 md[2] -> …"; the number after the last dot is of a parallel path. */
static int read_lane(const char* line, char* into) {
    const char* at = strchr(line, ':');
    if (at == NULL) return 0;
    for (++at; *at == ' ' || isdigit((unsigned char)*at); ++at)
        ;
    if (*at != ':') return 0; /* a connection manager's lane */
    const size_t length = strcspn(++at, " \n");
    size_t end = length;
    while (end > 0 && isdigit((unsigned char)at[end - 1]))
        --end;
    end = end > 1 && at[end - 1] == '.' ? end - 1 : length;
    if (end == 0 || end >= longest_lane || memchr(at, '/', end) == NULL) return 0;
    memcpy(into, at, end);
    into[end] = '\0';
    return 1;
}

static int by_text(const void* a, const void* b) {
    return strcmp(a, b);
}

/* The transports of an endpoint, sorted without duplicates, so that equal sets are equal texts. */
static void read_path(const char* info, char* into) {
    char lanes[most_lanes][longest_lane];
    size_t count = 0;
    for (const char* at = info; count < most_lanes && (at = strstr(at, "lane[")) != NULL; ++at)
        count += (size_t)read_lane(at, lanes[count]);
    qsort(lanes, count, sizeof lanes[0], by_text);
    size_t used = 0;
    into[0] = '\0';
    for (size_t i = 0; i < count; ++i) {
        if (i > 0 && strcmp(lanes[i], lanes[i - 1]) == 0) continue;
        const size_t length = strlen(lanes[i]);
        if (used + length + 2 > longest_path) break;
        if (used > 0) into[used++] = '+';
        memcpy(into + used, lanes[i], length + 1);
        used += length;
    }
    if (used == 0) strcpy(into, "unknown");
}

void ry_ucx_made(const void* worker, const void* endpoint, const char* info, const char* peer) {
    char over[longest_path] = "unknown";
    if (info != NULL) read_path(info, over);
    pthread_mutex_lock(&lock);
    struct endpoint* known = find(endpoint); /* an endpoint that UCX ended on its own had the same address */
    if (known != NULL) take_out(known);
    if (view.used * 2 < view.room || grow()) {
        const size_t at = place_of(view.endpoints, view.room, endpoint);
        view.endpoints[at] = (struct endpoint){endpoint, worker, path_number(over), peer_number(peer)};
        struct path* way = &view.paths[view.endpoints[at].path];
        ++way->endpoints;
        if (way->to == 0) way->to = view.endpoints[at].peer;
        ++view.used;
        ++view.changes;
    }
    pthread_mutex_unlock(&lock);
}

static void say_last(const char* format, ...) __attribute__((format(printf, 1, 2)));
static void say_last(const char* format, ...) {
    char text[longest_text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_text(view.last, sizeof view.last, text);
    ++view.changes;
}

void ry_ucx_refused(const char* peer, const char* why) {
    pthread_mutex_lock(&lock);
    ++view.refused;
    say_last("no endpoint to peer %s: %s", peer[0] == '\0' ? "(not known)" : peer, why);
    pthread_mutex_unlock(&lock);
}

void ry_ucx_failed(const void* endpoint, int timeout, const char* why) {
    pthread_mutex_lock(&lock);
    const struct endpoint* one = find(endpoint);
    ++view.failed;
    view.timeouts += timeout != 0;
    say_last("peer %s over %s: %s", one == NULL || one->peer == 0 ? "(not known)" : view.peers[one->peer - 1],
             one == NULL ? "unknown" : view.paths[one->path].over, why);
    pthread_mutex_unlock(&lock);
}

void ry_ucx_closed(const void* endpoint) {
    pthread_mutex_lock(&lock);
    struct endpoint* known = find(endpoint);
    if (known != NULL) {
        take_out(known);
        ++view.changes;
    }
    pthread_mutex_unlock(&lock);
}

void ry_ucx_worker_gone(const void* worker) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < view.room;) {
        if (view.endpoints[i].it == NULL || view.endpoints[i].worker != worker) {
            ++i;
            continue;
        }
        take_out(&view.endpoints[i]); /* another entry may be in its place now */
        ++view.changes;
    }
    pthread_mutex_unlock(&lock);
}

void ry_ucx_unseen(const char* why) {
    pthread_mutex_lock(&lock);
    put_text(view.unseen, sizeof view.unseen, why);
    ++view.changes;
    pthread_mutex_unlock(&lock);
}

void ry_ucx_resent(unsigned long long segments, const char* peer) {
    pthread_mutex_lock(&lock);
    if (segments > view.resent) {
        view.resent = segments;
        put_text(view.resent_to, sizeof view.resent_to, peer);
        ++view.changes;
    }
    pthread_mutex_unlock(&lock);
}

int ry_ucx_uses_tcp(void) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < view.path_count; ++i)
        found |= view.paths[i].endpoints > 0 && strstr(view.paths[i].over, "tcp/") != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

unsigned long ry_ucx_changes(void) {
    pthread_mutex_lock(&lock);
    const unsigned long changes = view.changes;
    pthread_mutex_unlock(&lock);
    return changes;
}

/* A number from the environment without trailing text; else `otherwise`. */
static long long number(const char* name, long long most, long long otherwise) {
    const char* text = getenv(name);
    if (text == NULL || !isdigit((unsigned char)text[0])) return otherwise;
    char* end = NULL;
    const long long value = strtoll(text, &end, 10);
    return *end == '\0' && value <= most ? value : otherwise;
}

/* The launcher within the step sets it, otherwise Slurm: there all of mpirun's ranks have the number of its
 * daemon. */
static long long rank(void) {
    static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const long long found = number(names[i], UINT32_MAX, -1);
        if (found >= 0) return found;
    }
    return 0;
}

static size_t append(char* into, size_t size, size_t used, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
static size_t append(char* into, size_t size, size_t used, const char* format, ...) {
    if (used >= size) return size;
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(into + used, size - used, format, arguments);
    va_end(arguments);
    return n < 0 || (size_t)n >= size - used ? size : used + (size_t)n;
}

static struct {
    long long job, epoch, rank;
    char tls[longest_text], devices[longest_text];
} environment = {-1, 0, 0, "", ""};

static void variable(const char* name, char* into) {
    const char* value = getenv(name);
    put_text(into, longest_text, value == NULL ? "" : value);
}

void ry_ucx_remember(void) {
    pthread_mutex_lock(&lock);
    const int slurms = getenv("SLURM_JOB_ID") != NULL; /* else rail-lsf-run's, under LSF */
    environment.job = number(slurms ? "SLURM_JOB_ID" : "RAIL_JOB_ID", UINT32_MAX, -1);
    environment.epoch = number(slurms ? "SLURM_RESTART_COUNT" : "RAIL_RESTART_COUNT", UINT32_MAX, 0);
    environment.rank = rank();
    variable("UCX_TLS", environment.tls);
    variable("UCX_NET_DEVICES", environment.devices);
    pthread_mutex_unlock(&lock);
}

size_t ry_ucx_line(char* into, size_t size, unsigned long* changes) {
    pthread_mutex_lock(&lock);
    if (environment.job < 0) {
        pthread_mutex_unlock(&lock);
        return 0;
    }
    *changes = view.changes;
    size_t used =
        append(into, size, 0, "{\"op\":\"ucx\",\"job\":%lld,\"epoch\":%lld,\"rank\":%lld,\"tls\":\"%s\",",
               environment.job, environment.epoch, environment.rank, environment.tls);
    used = append(into, size, used, "\"devices\":\"%s\",\"unseen\":\"%s\",\"paths\":[", environment.devices,
                  view.unseen);
    const char* comma = "";
    for (size_t i = 0; i < view.path_count; ++i) {
        if (view.paths[i].endpoints == 0) continue;
        used = append(into, size, used, "%s{\"over\":\"%s\",\"endpoints\":%lu", comma, view.paths[i].over,
                      view.paths[i].endpoints);
        if (view.paths[i].to != 0)
            used = append(into, size, used, ",\"to\":\"%s\"", view.peers[view.paths[i].to - 1]);
        used = append(into, size, used, "}");
        comma = ",";
    }
    used = append(into, size, used,
                  "],\"failed\":%llu,\"timeouts\":%llu,\"refused\":%llu,\"last\":\"%s\",\"resent\":%llu,"
                  "\"resent_to\":\"%s\"}\n",
                  view.failed, view.timeouts, view.refused, view.last, view.resent, view.resent_to);
    pthread_mutex_unlock(&lock);
    return used >= size ? 0 : used;
}

void ry_ucx_view_prepare(void) {
    pthread_mutex_lock(&lock);
}

void ry_ucx_view_parent(void) {
    pthread_mutex_unlock(&lock);
}

void ry_ucx_view_child(void) {
    /* The table stays: a child of fork() in a multi-threaded program must not call free() or malloc(). */
    struct endpoint* const table = view.endpoints;
    const size_t room = view.room;
    memset(&view, 0, sizeof view);
    if (table != NULL) memset(table, 0, room * sizeof *table);
    view.endpoints = table;
    view.room = room;
    pthread_mutex_unlock(&lock);
}
