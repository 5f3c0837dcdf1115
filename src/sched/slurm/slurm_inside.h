/* All of Slurm's internal headers that the plugins need, in the required order. Include it first. */
#ifndef RAILYARD_SCHED_SLURM_INSIDE_H
#define RAILYARD_SCHED_SLURM_INSIDE_H

#include "config.h"

/* Renames the functions that the other headers declare: if it came after one of them, calls would go to
 * undeclared functions returning int. */
#include "src/common/slurm_xlator.h"

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "slurm/slurm_version.h"
#include "src/common/bitstring.h"
#include "src/common/job_resources.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/node_conf.h"
#include "src/common/read_config.h"
#include "src/common/run_in_daemon.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#include "src/interfaces/gres.h"
#include "src/interfaces/select.h"
#else
#include "src/common/gres.h"
#include "src/common/select.h"
#endif
#include "src/slurmctld/slurmctld.h"

/* Unlike functions, data symbols are resolved when a plugin is loaded, and clients of libslurm do not have
 * these: weak references let the plugins load there as well. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 0)
extern List job_list __attribute__((weak));
#else
extern list_t* job_list __attribute__((weak));
#endif
extern int node_record_count __attribute__((weak));
extern node_record_t** node_record_table_ptr __attribute__((weak));
extern time_t last_node_update __attribute__((weak));
extern bitstr_t* idle_node_bitmap __attribute__((weak));
extern bitstr_t* share_node_bitmap __attribute__((weak));
extern bitstr_t* avail_node_bitmap __attribute__((weak));

#endif
