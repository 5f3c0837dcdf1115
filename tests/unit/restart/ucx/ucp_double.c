/* A TEST DOUBLE of libucp.so.0: endpoints whose ways UCP_DOUBLE_LANES names ("tcp/eth0.0
 * rc_mlx5/mlx5_0:1.0"), whose error handler is called when they are closed with UCP_DOUBLE_ERROR set, and
 * which cannot be made with UCP_DOUBLE_REFUSE. Structures and words are those of UCX 1.13.1 (ucp/api/ucp.h,
 * ucp/core/ucp_ep.c). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef signed char status;
struct parameters {
    uint64_t fields;
    const void* address;
    int error_mode;
    void (*on_error)(void*, void*, status);
    void* argument;
};
struct endpoint {
    void (*on_error)(void*, void*, status);
    void* argument;
};

static int number(const char* name) {
    const char* text = getenv(name);
    return text == NULL ? 0 : atoi(text);
}

status ucp_ep_create(void* worker, const struct parameters* given, void** made) {
    (void)worker;
    if (number("UCP_DOUBLE_REFUSE") != 0) return (status)number("UCP_DOUBLE_REFUSE");
    struct endpoint* one = calloc(1, sizeof *one);
    if ((given->fields & 4) != 0) {
        one->on_error = given->on_error;
        one->argument = given->argument;
    }
    *made = one;
    return 0;
}

#ifndef WITHOUT_INFO
void ucp_ep_print_info(void* endpoint, FILE* stream) {
    (void)endpoint;
    char lanes[1024];
    snprintf(lanes, sizeof lanes, "%s", getenv("UCP_DOUBLE_LANES") == NULL ? "" : getenv("UCP_DOUBLE_LANES"));
    int number = 0;
    fprintf(stream, "#\n# UCP endpoint \n#\n#               peer: <no debug data>\n");
    for (char* lane = strtok(lanes, " "); lane != NULL; lane = strtok(NULL, " "))
        fprintf(stream, "#                 lane[%d]: %2d:%s md[1]            -> md[1]/ib/sysdev[255] am\n",
                number++, 2, lane);
    for (int i = 0; i < 10000; ++i) /* more than anybody keeps */
        fprintf(stream, "#                tag_send: 0..<egr/short>..8184\n");
}
#endif

void* ucp_ep_close_nb(void* endpoint, unsigned mode) {
    (void)mode;
    struct endpoint* one = endpoint;
    free(one);
    return NULL;
}

void ucp_ep_fail(void* endpoint) {
    struct endpoint* one = endpoint;
    if (one->on_error != NULL) one->on_error(one->argument, one, (status)number("UCP_DOUBLE_ERROR"));
}

void ucp_worker_destroy(void* worker) {
    (void)worker;
}

const char* ucs_status_string(status why) {
    return why == -80 ? "Endpoint timeout" : why == -6 ? "Destination is unreachable" : "another error";
}
