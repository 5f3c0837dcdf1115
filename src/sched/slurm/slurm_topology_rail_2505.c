/* topology_rail.so for Slurm 25.05: the parts specific to this release (slurm_topology_rail.h). */
#include "slurm_topology_rail.h"

const char topology_flat[] = "topology_flat.so";

#define FORWARDED(X)                                                                                         \
    TOPOLOGY_FORWARDED_SINCE_2505(X)                                                                         \
    X(int, topology_p_topology_free, (void*))                                                                \
    X(int, topology_p_topology_pack, (void*, buf_t*, uint16_t))                                              \
    X(int, topology_p_topology_print, (void*, char*, char*, char**))                                         \
    X(int, topology_p_topology_unpack, (void**, buf_t*, uint16_t))

#define OURS(X) TOPOLOGY_OURS_SINCE_2505(X)

TOPOLOGY_RELEASE
