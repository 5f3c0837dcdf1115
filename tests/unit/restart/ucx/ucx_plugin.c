/* What a plugin of an MPI does: it is loaded so that nobody else sees its libucp, and makes endpoints. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef signed char status;
struct parameters {
    uint64_t fields;
    const void* address;
    int error_mode;
    void (*on_error)(void*, void*, status);
    void* argument;
    void* user_data;
    unsigned flags;
    const void* peer;
    unsigned peer_length;
};
status ucp_ep_create(void*, const struct parameters*, void**);
void* ucp_ep_close_nb(void*, unsigned);
void ucp_ep_fail(void*);
void ucp_worker_destroy(void*);

static int told;
static void on_error(void* argument, void* endpoint, status why) {
    (void)endpoint;
    told += *(int*)argument == 42 && why == (status)atoi(getenv("UCP_DOUBLE_ERROR"));
}

/* Waits for a byte of the standard input, or its end. */
static void pause_here(void) {
    char byte;
    if (read(STDIN_FILENO, &byte, 1) < 0) _exit(7);
}

/* COUNT endpoints, of which one fails, and one of a child. It pauses in the child, then with all, with one
 * and with none of its own. The exit status says whether all went as without us. */
int run(int count) {
    static int argument = 42;
    struct parameters given = {1 | 4, "address", 0, on_error, &argument, NULL, 0, NULL, 0};
    void* made[1000] = {NULL};
    const char* refuse = getenv("UCP_DOUBLE_REFUSE");
    for (int i = 0; i < count; ++i)
        if (ucp_ep_create(&argument, &given, &made[i]) != (refuse == NULL ? 0 : (status)atoi(refuse)))
            return 2;
    if (getenv("UCP_DOUBLE_ERROR") != NULL) {
        ucp_ep_fail(made[0]);
        if (told != 1) return 3;
    }
    const pid_t child = fork(); /* which knows nothing of its parent's endpoints, and makes its own */
    if (child == 0) {
        void* one = NULL;
        const status done = ucp_ep_create(&argument, &given, &one);
        pause_here();
        _exit(done != 0 && refuse == NULL);
    }
    int left = 0;
    if (waitpid(child, &left, 0) != child || left != 0) return 4;
    pause_here();
    for (int i = 0; i + 1 < count; ++i)
        if (refuse == NULL) ucp_ep_close_nb(made[i], 0);
    pause_here();
    ucp_worker_destroy(&argument);
    pause_here();
    return 0;
}
