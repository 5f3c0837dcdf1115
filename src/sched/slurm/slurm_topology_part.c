/* The topologies in topology.yaml, each for some of the nodes: Slurm 25.05 and later. The stock plugin of
 * a topology rejects nodes outside it, so offering such nodes would waste an attempt each time. */
#include "slurm_topology_rail.h"

#include <pthread.h>

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)

#define TOPOLOGY_STOCK(result, name, parameters)                                                             \
    extern result name parameters;                                                                           \
    extern __attribute__((visibility("hidden"))) void* stock_##name;
TOPOLOGY_OURS_SINCE_2505(TOPOLOGY_STOCK)

/* The nodes of each topology that was used since the last change. */
struct part {
    const topology_ctx_t* topology;
    bitstr_t* nodes;
    struct part* next;
};
static struct part* parts;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void forget(void) {
    pthread_mutex_lock(&mutex);
    while (parts) {
        struct part* first = parts;
        parts = first->next;
        FREE_NULL_BITMAP(first->nodes);
        xfree(first);
    }
    pthread_mutex_unlock(&mutex);
}

static void add_nodes(bitstr_t* to, char* names) {
    bitstr_t* more = NULL;
    if (!names || !names[0]) return;
    node_name2bitmap(names, false, &more, NULL);
    if (more) bit_or(to, more);
    FREE_NULL_BITMAP(more);
}

/* The nodes configured for it in the file, from bit_alloc; NULL: all. Slurm updates it with the node
 * table. */
static bitstr_t* configured(const topology_ctx_t* topology) {
    const bool tree = !xstrcmp(topology->plugin, "topology/tree");
    if (!topology->config || (!tree && xstrcmp(topology->plugin, "topology/block"))) return NULL;
    bitstr_t* nodes = bit_alloc(node_record_count);
    if (tree) {
        const topology_tree_config_t* config = topology->config;
        for (int i = 0; i < config->config_cnt; i++)
            add_nodes(nodes, config->switch_configs[i].nodes);
    } else {
        const topology_block_config_t* config = topology->config;
        for (int i = 0; i < config->config_cnt; i++)
            add_nodes(nodes, config->block_configs[i].nodes);
    }
    return nodes;
}

void topology_part_keep(const topology_ctx_t* topology, bitstr_t* candidates) {
    pthread_mutex_lock(&mutex);
    struct part* part = parts;
    while (part && part->topology != topology)
        part = part->next;
    if (part && part->nodes && bit_size(part->nodes) != bit_size(candidates)) {
        FREE_NULL_BITMAP(part->nodes); /* the node table has grown */
        part->nodes = configured(topology);
    } else if (!part) {
        part = xcalloc(1, sizeof(*part));
        part->topology = topology;
        part->nodes = configured(topology);
        part->next = parts;
        parts = part;
    }
    if (part->nodes && bit_size(part->nodes) == bit_size(candidates)) bit_and(candidates, part->nodes);
    pthread_mutex_unlock(&mutex);
}

extern int topology_p_build_config(topology_ctx_t* topology) {
    topology_rail_configured();
    int rc = STOCK(topology_p_build_config)(topology);
    forget();
    return rc;
}

extern int topology_p_destroy_config(topology_ctx_t* topology) {
    forget();
    return STOCK(topology_p_destroy_config)(topology);
}

extern int topology_p_add_rm_node(node_record_t* node, char* unit, topology_ctx_t* topology) {
    int rc = STOCK(topology_p_add_rm_node)(node, unit, topology);
    forget();
    return rc;
}

#endif
