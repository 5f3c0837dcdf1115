/* topology_rail.so for Slurm 24.11: the parts specific to this release (slurm_topology_rail.h). */
#include "slurm_topology_rail.h"

const char topology_flat[] = "topology_default.so";

#define FORWARDED(X)                                                                                         \
    X(int, topology_p_whole_topo, (bitstr_t*))                                                               \
    X(bitstr_t*, topology_p_get_bitmap, (char*))                                                             \
    X(bool, topology_p_generate_node_ranking, (void))                                                        \
    X(int, topology_p_get_node_addr, (char*, char**, char**))                                                \
    X(int, topology_p_split_hostlist, (hostlist_t*, hostlist_t***, int*, uint16_t))                          \
    X(int, topology_p_topology_free, (void*))                                                                \
    X(int, topology_p_get, (topology_data_t, void*))                                                         \
    X(int, topology_p_topology_pack, (void*, buf_t*, uint16_t))                                              \
    X(int, topology_p_topology_print, (void*, char*, char**))                                                \
    X(int, topology_p_topology_unpack, (void**, buf_t*, uint16_t))                                           \
    X(uint32_t, topology_p_get_fragmentation, (bitstr_t*))

#define OURS(X) X(int, topology_p_build_config, (void))

TOPOLOGY_RELEASE

extern int topology_p_build_config(void) {
    topology_rail_configured();
    return STOCK(topology_p_build_config)();
}
