/* The functions that select_rail.so forwards to Slurm's select_cons_tres.so. */
#include "slurm_inside.h"

#include "slurm_stock.h"

/* All of node_select_syms in Slurm 22.05's select.c except select_p_job_test, select_p_job_fini,
 * select_p_node_init and select_p_reconfigure, which slurm_select_rail.c defines. */
#define FORWARDED(X)                                                                                         \
    X(select_p_state_save)                                                                                   \
    X(select_p_state_restore)                                                                                \
    X(select_p_job_init)                                                                                     \
    X(select_p_job_begin)                                                                                    \
    X(select_p_job_ready)                                                                                    \
    X(select_p_job_expand)                                                                                   \
    X(select_p_job_resized)                                                                                  \
    X(select_p_job_signal)                                                                                   \
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
FORWARDED(STOCK_POINTER)
FORWARDED(STOCK_FORWARDER)
static const struct stock_forward forwards[] = {FORWARDED(STOCK_ENTRY)};

int stock_load(void) {
    return stock_open("select_cons_tres.so", forwards, sizeof(forwards) / sizeof(*forwards));
}
