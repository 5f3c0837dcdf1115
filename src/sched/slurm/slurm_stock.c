#define _GNU_SOURCE /* dladdr */
#include "slurm_inside.h"

#include "slurm_stock.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* All of node_select_syms in Slurm 22.05's select.c but select_p_job_test, select_p_node_init and
 * select_p_reconfigure, which slurm_select_rail.c defines. */
#define FORWARDED(X)                                                                                         \
    X(select_p_state_save)                                                                                   \
    X(select_p_state_restore)                                                                                \
    X(select_p_job_init)                                                                                     \
    X(select_p_job_begin)                                                                                    \
    X(select_p_job_ready)                                                                                    \
    X(select_p_job_expand)                                                                                   \
    X(select_p_job_resized)                                                                                  \
    X(select_p_job_signal)                                                                                   \
    X(select_p_job_fini)                                                                                     \
    X(select_p_job_suspend)                                                                                  \
    X(select_p_job_resume)                                                                                   \
    X(select_p_step_pick_nodes)                                                                              \
    X(select_p_step_start)                                                                                   \
    X(select_p_step_finish)                                                                                  \
    X(select_p_select_nodeinfo_pack)                                                                         \
    X(select_p_select_nodeinfo_unpack)                                                                       \
    X(select_p_select_nodeinfo_alloc)                                                                        \
    X(select_p_select_nodeinfo_free)                                                                         \
    X(select_p_select_nodeinfo_set_all)                                                                      \
    X(select_p_select_nodeinfo_set)                                                                          \
    X(select_p_select_nodeinfo_get)                                                                          \
    X(select_p_select_jobinfo_alloc)                                                                         \
    X(select_p_select_jobinfo_free)                                                                          \
    X(select_p_select_jobinfo_set)                                                                           \
    X(select_p_select_jobinfo_get)                                                                           \
    X(select_p_select_jobinfo_copy)                                                                          \
    X(select_p_select_jobinfo_pack)                                                                          \
    X(select_p_select_jobinfo_unpack)                                                                        \
    X(select_p_select_jobinfo_sprint)                                                                        \
    X(select_p_select_jobinfo_xstrdup)                                                                       \
    X(select_p_get_info_from_plugin)                                                                         \
    X(select_p_update_node_config)                                                                           \
    X(select_p_resv_test)

/* A forwarder is one jump through a pointer that stock_load() fills: arguments and result pass untouched, so
 * that nothing here depends on the functions' types. The pointers are hidden, which makes the plain
 * pc-relative load legal in a shared object. */
#define POINTER(name) __attribute__((visibility("hidden"))) void* stock_##name;
FORWARDED(POINTER)

#if defined(__x86_64__)
#define JUMP(name) "jmp *stock_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(name)                                                                                           \
    "adrp x16, stock_" #name "\n"                                                                            \
    "ldr x16, [x16, #:lo12:stock_" #name "]\n"                                                               \
    "br x16\n"
#else
#error "select_rail: no forwarder is written for this processor; add its jump here"
#endif
#define FORWARDER(name)                                                                                      \
    __asm__(".text\n.balign 16\n.globl " #name "\n.type " #name ", %function\n" #name                        \
            ":\n" JUMP(name) ".size " #name ", . - " #name "\n");
FORWARDED(FORWARDER)

static void* stock;

static bool same_file(const char* a, const char* b) {
    struct stat first, second;
    return !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* The path of the first select_cons_tres.so in PluginDir that is not this very file. */
static bool find_stock(char path[PATH_MAX]) {
    Dl_info self;
    if (!dladdr(&stock, &self)) self.dli_fname = "";
    char *dirs = xstrdup(slurm_conf.plugindir), *rest = NULL;
    bool found = false;
    for (char* dir = strtok_r(dirs, ":", &rest); dir && !found; dir = strtok_r(NULL, ":", &rest)) {
        if (snprintf(path, PATH_MAX, "%s/select_cons_tres.so", dir) >= PATH_MAX) continue;
        found = !access(path, R_OK) && !same_file(path, self.dli_fname);
    }
    xfree(dirs);
    return found;
}

void* stock_symbol(const char* name) {
    void* symbol = dlsym(stock, name);
    if (!symbol)
        error("select/rail: select_cons_tres.so has no %s: this plugin is for another Slurm release", name);
    return symbol;
}

int stock_load(void) {
    char path[PATH_MAX];
    if (!find_stock(path)) {
        error("select/rail: no select_cons_tres.so in PluginDir %s: add the directory of Slurm's own plugins",
              slurm_conf.plugindir);
        return SLURM_ERROR;
    }
    stock = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!stock) {
        error("select/rail: %s", dlerror());
        return SLURM_ERROR;
    }
#define BIND(name)                                                                                           \
    if (!(stock_##name = stock_symbol(#name))) goto unbound;
    FORWARDED(BIND)
    debug("select/rail: decides before %s", path);
    return SLURM_SUCCESS;
unbound:
    stock_unload();
    return SLURM_ERROR;
}

void stock_unload(void) {
    if (stock) dlclose(stock);
    stock = NULL;
}
