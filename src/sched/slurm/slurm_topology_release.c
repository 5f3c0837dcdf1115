/* Includes the file of the Slurm release whose headers are used: one for each (slurm_topology_rail.h). */
#include "slurm_topology_rail.h"

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 11, 0)
#error "no file is written for this Slurm release yet: see HACKING, \"The next release of Slurm\""
#elif SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#include "slurm_topology_rail_2605.c"
#elif SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#include "slurm_topology_rail_2511.c"
#elif SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
#include "slurm_topology_rail_2505.c"
#elif SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
#include "slurm_topology_rail_2411.c"
#else
#error "topology_rail.so is for Slurm 24.11 and later; for 22.05 there is select_rail.so"
#endif
