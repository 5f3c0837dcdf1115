/* Slurm's own plugin behind ours: it is found and loaded, and every function that ours does not define
 * itself jumps directly into it. A plugin lists such functions in an X-macro and writes
 *
 *     #define FORWARDED(X) X(select_p_job_init) X(select_p_job_begin) …
 *     FORWARDED(STOCK_POINTER)
 *     FORWARDED(STOCK_FORWARDER)
 *     static const struct stock_forward forwards[] = {FORWARDED(STOCK_ENTRY)};
 *
 * A forwarder is one jump through a pointer that stock_open() fills: arguments and result are unchanged,
 * so this does not depend on the functions' types. The pointers have hidden visibility, which permits the
 * plain pc-relative load in a shared object. */
#ifndef RAILYARD_SCHED_SLURM_STOCK_H
#define RAILYARD_SCHED_SLURM_STOCK_H

#include <stddef.h>

struct stock_forward {
    const char* name;
    void** to;
};

#define STOCK_POINTER(name) __attribute__((visibility("hidden"))) void* stock_##name;
#define STOCK_ENTRY(name) {#name, &stock_##name},

#if defined(__x86_64__)
#define STOCK_JUMP(name) "jmp *stock_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define STOCK_JUMP(name)                                                                                     \
    "adrp x16, stock_" #name "\n"                                                                            \
    "ldr x16, [x16, #:lo12:stock_" #name "]\n"                                                               \
    "br x16\n"
#else
#error "no forwarder is written for this processor; add its jump here"
#endif
#define STOCK_FORWARDER(name)                                                                                \
    __asm__(".text\n.balign 16\n.globl " #name "\n.type " #name ", %function\n" #name                        \
            ":\n" STOCK_JUMP(name) ".size " #name ", . - " #name "\n");

/* Loads the first `file` (such as "select_cons_tres.so") in the directories of slurm.conf's PluginDir,
 * skipping the file that contains this code, and fills the pointers. SLURM_SUCCESS, or SLURM_ERROR with
 * the reason logged. */
int stock_open(const char* file, const struct stock_forward* forwards, size_t count);
void stock_unload(void);

/* A function or data symbol of the loaded plugin; NULL (logged) if it does not exist. */
void* stock_symbol(const char* name);

/* Defined next to a plugin's list: opens the stock plugin behind it. */
int stock_load(void);

#endif
