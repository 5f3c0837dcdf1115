/* The parts of topology_rail.so that are the same for every Slurm release, and the interface to a
 * release's own file, slurm_topology_rail_NNNN.c. That file has
 *
 *     const char topology_flat[]                  the stock plugin if topology.conf names nothing
 *     #define FORWARDED(X) X(int, topology_p_get, (topology_data_t, void*, void*)) …
 *                                                 forwarded functions: result, name, parameters
 *     #define OURS(X) …                           the same for those that it defines itself, besides
 *                                                 topology_p_eval_nodes, and calls as STOCK(name)(…)
 *     TOPOLOGY_RELEASE
 *
 * The types are checked against those with which the release calls: slurm_topology_ops.h is generated from
 * its topology.c (build-aux/slurm-topology-ops). A function required by the release that is in neither
 * list is a compile error, and so is a different type. */
#ifndef RAILYARD_SCHED_SLURM_TOPOLOGY_RAIL_H
#define RAILYARD_SCHED_SLURM_TOPOLOGY_RAIL_H

#include "slurm_inside.h"

#include "src/interfaces/topology.h"

#include "slurm_topology_ops.h" /* generated for this release in the build directory */

#include <stdbool.h>
#include <stdint.h>

#include "slurm_stock.h"

/* From the release's file. */
extern const char topology_flat[];
extern const struct stock_forward topology_forwards[];
extern const size_t topology_forward_count;

/* What Slurm looks up besides functions. The latter two are taken from the stock plugin after it is
 * loaded: the number identifies the data that it packs. */
extern const char plugin_type[];
extern uint32_t plugin_id;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
extern bool supports_exclusive_topo;
#endif

/* Selects the nodes; the same function in every release. */
extern int topology_p_eval_nodes(topology_eval_t* eval);

/* To be called by topology_p_build_config, before the stock plugin's function: at the start of slurmctld
 * and at each reconfiguration, after the node table was built; also in slurmd. */
void topology_rail_configured(void);

/* Whether jobs of one node must be asked about as well: some nodes must stay free for restarts, or small
 * jobs are packed. */
bool topology_rail_sees_all(void);

/* The ranks of nodes as in topology_p_get_rank of 26.05 and later: from xmalloc, in the order of node
 * numbers, the number of the unit << 16, plus the place in it. False: no opinion. */
bool topology_rail_ranks(bitstr_t* nodes, uint32_t** ranks, uint32_t* count);

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
/* Removes from `candidates` the nodes outside the topology that topology.yaml defines, as now configured.
 * Without topology.yaml, and for a topology without switches and blocks, all are kept. Cheap: the
 * configuration is looked up once after each change. */
void topology_part_keep(const topology_ctx_t* topology, bitstr_t* candidates);

/* From slurm_topology_part.c. */
#define TOPOLOGY_OURS_SINCE_2505(X)                                                                          \
    X(int, topology_p_build_config, (topology_ctx_t*))                                                       \
    X(int, topology_p_destroy_config, (topology_ctx_t*))                                                     \
    X(int, topology_p_add_rm_node, (node_record_t*, char*, topology_ctx_t*))

#define TOPOLOGY_FORWARDED_SINCE_2505(X)                                                                     \
    X(int, topology_p_whole_topo, (bitstr_t*, void*))                                                        \
    X(bitstr_t*, topology_p_get_bitmap, (char*, void*))                                                      \
    X(bool, topology_p_generate_node_ranking, (topology_ctx_t*))                                             \
    X(int, topology_p_get_node_addr, (char*, char**, char**, void*))                                         \
    X(int, topology_p_split_hostlist, (hostlist_t*, hostlist_t***, int*, uint16_t, void*))                   \
    X(int, topology_p_get, (topology_data_t, void*, void*))                                                  \
    X(uint32_t, topology_p_get_fragmentation, (bitstr_t*, void*))
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define TOPOLOGY_FORWARDED_SINCE_2511(X)                                                                     \
    X(int, topology_p_topoinfo_free, (void*))                                                                \
    X(int, topology_p_topoinfo_pack, (void*, buf_t*, uint16_t))                                              \
    X(int, topology_p_topoinfo_print, (void*, char*, char*, char**))                                         \
    X(int, topology_p_topoinfo_unpack, (void**, buf_t*, uint16_t))                                           \
    X(void, topology_p_jobinfo_free, (void*))                                                                \
    X(void, topology_p_jobinfo_pack, (void*, buf_t*, uint16_t))                                              \
    X(int, topology_p_jobinfo_unpack, (void**, buf_t*, uint16_t))                                            \
    X(int, topology_p_jobinfo_get, (topology_jobinfo_type_t, void*, void*))                                  \
    X(void, topology_p_get_topology_str, (node_record_t*, char**, topology_ctx_t*))
#endif

#define TOPOLOGY_DECLARE(result, name, parameters)                                                           \
    extern result name parameters;                                                                           \
    STOCK_POINTER(name)
#define TOPOLOGY_FORWARDER(result, name, parameters) STOCK_FORWARDER(name)
#define TOPOLOGY_ENTRY(result, name, parameters) STOCK_ENTRY(name)

#define TOPOLOGY_CHECK_FUNCTION(member, name)                                                                \
    _Static_assert(                                                                                          \
        __builtin_types_compatible_p(__typeof__(&name), __typeof__(((slurm_topo_ops_t*)0)->member)),         \
        #name " has another type in this Slurm release: see slurm_topo_ops in its topology.c");
/* A string is an array whose address Slurm takes. */
#define TOPOLOGY_CHECK_DATA(member, name)                                                                    \
    _Static_assert(                                                                                          \
        __builtin_types_compatible_p(__typeof__(&name), __typeof__(((slurm_topo_ops_t*)0)->member)) ||       \
            __builtin_types_compatible_p(__typeof__(&name), const char(*)[]),                                \
        #name " has another type in this Slurm release: see slurm_topo_ops in its topology.c");

#define TOPOLOGY_RELEASE                                                                                     \
    FORWARDED(TOPOLOGY_DECLARE)                                                                              \
    FORWARDED(TOPOLOGY_FORWARDER)                                                                            \
    OURS(TOPOLOGY_DECLARE)                                                                                   \
    const struct stock_forward topology_forwards[] = {FORWARDED(TOPOLOGY_ENTRY) OURS(TOPOLOGY_ENTRY)};       \
    const size_t topology_forward_count = sizeof(topology_forwards) / sizeof(*topology_forwards);            \
    SLURM_TOPOLOGY_FUNCTIONS(TOPOLOGY_CHECK_FUNCTION)                                                        \
    SLURM_TOPOLOGY_DATA(TOPOLOGY_CHECK_DATA)

/* The stock plugin's function behind one of ours. */
#define STOCK(name) ((__typeof__(&name))stock_##name)

#endif
