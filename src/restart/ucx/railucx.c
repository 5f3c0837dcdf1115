/* librailucx.so: reports to the host's agent which transports UCX uses in this process. It is preloaded
 * (LD_PRELOAD).
 *
 * It wraps the libucp calls that create and destroy endpoints, and none in the data path. This reveals more
 * than what libucs shows of its objects in the process (ucs_vfs_path_*, at least up to UCX 1.13): there an
 * endpoint has no lanes, its peer's name is "<no debug data>" in a release build, and reading it from another
 * thread races with its destruction, as libucs releases its lock before it reads the object. Here each
 * endpoint is examined by the thread that has just created it, through the documented ucp_ep_print_info(). It
 * is a separate library, and in C: it is loaded into programs that do not use checkpoints, and must not bring
 * a C++ runtime into them.
 *
 * On failure it does nothing: UCX's own result is always passed unchanged to the program. The owner of an
 * endpoint's address is known if PMIx has just returned it to Open MPI (ucx_ranks.h); for that PMIx_Get() is
 * wrapped, too.
 *
 * It does not see endpoints that UCX creates itself when a peer connects first, nor transports that change
 * later with the peer's reply.
 *
 * Source: ucp/api/ucp.h and ucp/core/ucp_ep.c of UCX 1.13.1; UCX of August 2026 has the same calls, the same
 * beginning of ucp_ep_params_t and the same format of lanes. */
#define _GNU_SOURCE
#include "restart/ucx/ucx_ranks.h"
#include "restart/ucx/ucx_teller.h"
#include "restart/ucx/ucx_view.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <link.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef signed char status; /* ucs_status_t: a packed enumeration */
enum { ok = 0, unsupported = -22, timed_out = -20, endpoint_timeout = -80 };

/* ucp_ep_params_t of UCX 1.13, to which later releases only add; bits above those are unknown here. */
typedef void (*error_callback)(void* arg, void* endpoint, status why);
struct parameters {
    uint64_t fields;
    const void* address;
    int error_mode;
    error_callback on_error;
    void* argument;
    void* user_data;
    unsigned flags;
    const struct sockaddr* peer;
    socklen_t peer_length;
    void* request;
    const char* name;
    const struct sockaddr* local;
    socklen_t local_length;
};
enum { has_address = 1 << 0, has_error_handler = 1 << 2, has_peer = 1 << 4, known_fields = (1 << 9) - 1 };
_Static_assert(sizeof(void*) != 8 || sizeof(struct parameters) == 104, "the layout of ucp_ep_params_t");

enum { longest_info = 16384, most_callbacks = 8 };

#define EXPORTED __attribute__((visibility("default")))
EXPORTED status ucp_ep_create(void* worker, const struct parameters* given, void** endpoint);
EXPORTED void ucp_ep_destroy(void* endpoint);
EXPORTED void* ucp_disconnect_nb(void* endpoint);
EXPORTED void* ucp_ep_close_nb(void* endpoint, unsigned mode);
EXPORTED void* ucp_ep_close_nbx(void* endpoint, const void* how);
EXPORTED void ucp_worker_destroy(void* worker);

/* The parts of PMIx that are the same in all releases of its interface since 2 (pmix_common.h): a process by
 * its namespace and rank, a value by its type. */
struct process {
    char world[256];
    uint32_t rank;
};
struct value {
    uint16_t type;
    union {
        struct {
            const void* bytes;
            size_t size;
        } object;
        double aligned;
    } is;
};
enum { pmix_byte_object = 27, pmix_not_supported = -47 };
_Static_assert(sizeof(void*) != 8 ||
                   (offsetof(struct process, rank) == 256 && offsetof(struct value, is) == 8),
               "the layout of pmix_proc_t and pmix_value_t");
EXPORTED int PMIx_Get(const struct process* of, const char* key, const void* how, size_t words,
                      struct value** found);

/* libucp of this process. If a program's plugin has loaded it (as Open MPI's do), it is not in the search
 * order after us (RTLD_NEXT), but among the loaded objects. */
struct wanted {
    const char* begins; /* "/libucp.so" */
    char path[4096];
};
static int is_wanted(struct dl_phdr_info* info, size_t size, void* of) {
    (void)size;
    struct wanted* wanted = of;
    const char* file = info->dlpi_name == NULL ? NULL : strrchr(info->dlpi_name, '/');
    if (file == NULL || strncmp(file, wanted->begins, strlen(wanted->begins)) != 0) return 0;
    snprintf(wanted->path, sizeof wanted->path, "%s", info->dlpi_name);
    return 1;
}

static void* library(_Atomic(void*)* kept, const char* name, const char* begins) {
    void* handle = atomic_load(kept);
    if (handle != NULL) return handle;
    handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    struct wanted wanted = {begins, ""};
    if (handle == NULL && dl_iterate_phdr(is_wanted, &wanted) != 0)
        handle = dlopen(wanted.path, RTLD_LAZY | RTLD_NOLOAD);
    atomic_store(kept, handle);
    return handle;
}

static void* symbol(const char* name) {
    static _Atomic(void*) libucp, libpmix;
    void* found = dlsym(RTLD_NEXT, name);
    if (found != NULL) return found;
    void* in = strncmp(name, "PMIx_", 5) == 0 ? library(&libpmix, "libpmix.so.2", "/libpmix.so")
                                              : library(&libucp, "libucp.so.0", "/libucp.so");
    return in == NULL ? NULL : dlsym(in, name);
}

/* The real function of each name is looked up once. Function and object pointers have the same size. */
#define REAL(type, name)                                                                                     \
    static _Atomic(void*) kept_##name;                                                                       \
    void* found_##name = atomic_load(&kept_##name);                                                          \
    if (found_##name == NULL) atomic_store(&kept_##name, found_##name = symbol(#name));                      \
    type real;                                                                                               \
    memcpy(&real, &found_##name, sizeof real)

static const char* word(status why) {
    typedef const char* (*words)(status);
    REAL(words, ucs_status_string);
    return real == NULL ? "an error" : real(why);
}

/* The program's error callback has its own argument, and ours must find the program's callback: each of the
 * few callbacks of a program gets a slot here and a function that calls it. Others are left unchanged. */
static _Atomic(error_callback) callbacks[most_callbacks];

static void failed(int place, void* arg, void* endpoint, status why) {
    ry_ucx_failed(endpoint, why == endpoint_timeout || why == timed_out, word(why));
    ry_ucx_tell();
    error_callback theirs = atomic_load(&callbacks[place]);
    theirs(arg, endpoint, why);
}

#define STANDS_FOR(place)                                                                                    \
    static void stands_for_##place(void* arg, void* endpoint, status why) {                                  \
        failed(place, arg, endpoint, why);                                                                   \
    }
STANDS_FOR(0)
STANDS_FOR(1)
STANDS_FOR(2)
STANDS_FOR(3)
STANDS_FOR(4)
STANDS_FOR(5)
STANDS_FOR(6)
STANDS_FOR(7)
static const error_callback standing[most_callbacks] = {stands_for_0, stands_for_1, stands_for_2,
                                                        stands_for_3, stands_for_4, stands_for_5,
                                                        stands_for_6, stands_for_7};

static error_callback standing_for(error_callback theirs) {
    for (int i = 0; i < most_callbacks; ++i) {
        error_callback there = NULL;
        if (atomic_compare_exchange_strong(&callbacks[i], &there, theirs) || there == theirs)
            return standing[i];
    }
    return theirs;
}

static void peer_of(const struct parameters* given, char* into, size_t size) {
    into[0] = '\0';
    const long long rank = (given->fields & has_address) != 0 ? ry_ucx_rank_of(given->address) : -1;
    if (rank >= 0) snprintf(into, size, "rank %lld", rank);
    if ((given->fields & has_peer) == 0 || given->peer == NULL) return;
    const void* address = NULL;
    if (given->peer->sa_family == AF_INET)
        address = &((const struct sockaddr_in*)(const void*)given->peer)->sin_addr;
    if (given->peer->sa_family == AF_INET6)
        address = &((const struct sockaddr_in6*)(const void*)given->peer)->sin6_addr;
    if (address != NULL) inet_ntop(given->peer->sa_family, address, into, (socklen_t)size);
}

/* What UCX prints about a new endpoint, in memory that the caller frees; NULL: nothing, or no memory. */
static char* info_of(void* endpoint) {
    typedef void (*print_info)(void*, FILE*);
    REAL(print_info, ucp_ep_print_info);
    if (real == NULL) {
        ry_ucx_unseen("this libucp has no ucp_ep_print_info");
        return NULL;
    }
    char* text = calloc(1, longest_info);
    /* Excess output is cut off: lanes come first. */
    FILE* stream = text == NULL ? NULL : fmemopen(text, longest_info - 1, "w");
    if (stream == NULL) {
        free(text);
        return NULL;
    }
    real(endpoint, stream);
    fclose(stream);
    return text;
}

/* Statistics requested by spank_rail: with the trigger "exit" libucs sends them over UDP only after they have
 * been cleared, and with its own trigger it frees an endpoint's twice (UCX 1.13.1 to that of August 2026:
 * ucp_ep_destroy_base and ucp_ep_deallocate) and ends the process. ucs_stats_dump() is what its timer would
 * call. */
static void look_for_statistics(void) {
    static atomic_int looked;
    const char *to = getenv("UCX_STATS_DEST"), *ours = getenv("RAIL_UCX_STATS"),
               *when = getenv("UCX_STATS_TRIGGER");
    if (to == NULL || ours == NULL || when == NULL || strcmp(to, ours) != 0 || strcmp(when, "exit") != 0)
        return;
    if (atomic_exchange(&looked, 1) != 0) return;
    typedef int (*is_active)(void);
    REAL(is_active, ucs_stats_is_active);
    if (real == NULL || real() == 0) return;
    void* found = symbol("ucs_stats_dump");
    void (*dump)(void);
    memcpy(&dump, &found, sizeof dump);
    if (dump != NULL) ry_ucx_dump_with(dump);
}

status ucp_ep_create(void* worker, const struct parameters* given, void** endpoint) {
    typedef status (*create)(void*, const struct parameters*, void**);
    REAL(create, ucp_ep_create);
    if (real == NULL) return unsupported;
    struct parameters ours;
    const struct parameters* used = given;
    if ((given->fields & has_error_handler) != 0 && (given->fields & ~(uint64_t)known_fields) == 0 &&
        given->on_error != NULL) {
        /* Fields that are not set may be outside the program's memory: it may be older than this layout. */
        memset(&ours, 0, sizeof ours);
        const size_t end = given->fields >> 8 != 0   ? sizeof ours
                           : given->fields >> 7 != 0 ? offsetof(struct parameters, local)
                           : given->fields >> 6 != 0 ? offsetof(struct parameters, name)
                                                     : offsetof(struct parameters, request);
        memcpy(&ours, given, end);
        ours.on_error = standing_for(given->on_error);
        used = &ours;
    }
    char peer[INET6_ADDRSTRLEN];
    peer_of(given, peer, sizeof peer);
    const status done = real(worker, used, endpoint);
    if (done != ok) {
        ry_ucx_refused(peer, word(done));
    } else {
        /* An endpoint to a socket address selects its transports once it is connected. */
        char* info = (given->fields & has_address) != 0 ? info_of(*endpoint) : NULL;
        ry_ucx_made(worker, *endpoint, info, peer);
        free(info);
        look_for_statistics();
    }
    ry_ucx_tell();
    return done;
}

static void closed(const void* endpoint) {
    ry_ucx_closed(endpoint);
    ry_ucx_tell();
}

void ucp_ep_destroy(void* endpoint) {
    typedef void (*destroy)(void*);
    REAL(destroy, ucp_ep_destroy);
    closed(endpoint);
    if (real != NULL) real(endpoint);
}

void* ucp_disconnect_nb(void* endpoint) {
    typedef void* (*disconnect)(void*);
    REAL(disconnect, ucp_disconnect_nb);
    closed(endpoint);
    return real == NULL ? NULL : real(endpoint);
}

void* ucp_ep_close_nb(void* endpoint, unsigned mode) {
    typedef void* (*close_nb)(void*, unsigned);
    REAL(close_nb, ucp_ep_close_nb);
    closed(endpoint);
    return real == NULL ? NULL : real(endpoint, mode);
}

void* ucp_ep_close_nbx(void* endpoint, const void* how) {
    typedef void* (*close_nbx)(void*, const void*);
    REAL(close_nbx, ucp_ep_close_nbx);
    closed(endpoint);
    return real == NULL ? NULL : real(endpoint, how);
}

void ucp_worker_destroy(void* worker) {
    typedef void (*destroy)(void*);
    REAL(destroy, ucp_worker_destroy);
    ry_ucx_worker_gone(worker);
    ry_ucx_tell();
    if (real != NULL) real(worker);
}

/* Its result is passed on unchanged; without PMIx the program gets the error of a PMIx without this call. */
int PMIx_Get(const struct process* of, const char* key, const void* how, size_t words, struct value** found) {
    typedef int (*get)(const struct process*, const char*, const void*, size_t, struct value**);
    REAL(get, PMIx_Get);
    if (real == NULL) return pmix_not_supported;
    const int done = real(of, key, how, words, found);
    const struct value* value = done == 0 && found != NULL ? *found : NULL;
    const int is_object = value != NULL && value->type == pmix_byte_object;
    if (of != NULL)
        ry_ucx_published(of->world, of->rank, key, is_object ? value->is.object.bytes : NULL,
                         is_object ? value->is.object.size : 0);
    return done;
}

static void in_child(void) {
    ry_ucx_view_child();
    ry_ucx_teller_child();
}

__attribute__((constructor)) static void at_start(void) {
    pthread_atfork(ry_ucx_view_prepare, ry_ucx_view_parent, in_child);
}
