/* topology_rail.so for Slurm 26.05: the parts specific to this release (slurm_topology_rail.h). */
#include "slurm_topology_rail.h"

const char topology_flat[] = "topology_flat.so";

#define FORWARDED(X)                                                                                         \
    TOPOLOGY_FORWARDED_SINCE_2505(X)                                                                         \
    TOPOLOGY_FORWARDED_SINCE_2511(X)                                                                         \
    X(int, topology_p_eval_node, (topology_eval_t*, int))

#define OURS(X)                                                                                              \
    TOPOLOGY_OURS_SINCE_2505(X)                                                                              \
    X(bool, topology_p_allow_one_node, (void*))                                                              \
    X(int, topology_p_get_rank, (bitstr_t*, uint32_t**, uint32_t*, void*))

TOPOLOGY_RELEASE

/* Otherwise cons_tres gives jobs of one node the first node that has room, without asking. */
extern bool topology_p_allow_one_node(void* context) {
    return !topology_rail_sees_all() && STOCK(topology_p_allow_one_node)(context);
}

extern int topology_p_get_rank(bitstr_t* nodes, uint32_t** ranks, uint32_t* count, void* context) {
    if (topology_rail_ranks(nodes, ranks, count)) return SLURM_SUCCESS;
    return STOCK(topology_p_get_rank)(nodes, ranks, count, context);
}
