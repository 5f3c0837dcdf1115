/* topology_rail.so for Slurm 25.11: the parts specific to this release (slurm_topology_rail.h). */
#include "slurm_topology_rail.h"

const char topology_flat[] = "topology_flat.so";

#define FORWARDED(X) TOPOLOGY_FORWARDED_SINCE_2505(X) TOPOLOGY_FORWARDED_SINCE_2511(X)

#define OURS(X) TOPOLOGY_OURS_SINCE_2505(X)

TOPOLOGY_RELEASE
