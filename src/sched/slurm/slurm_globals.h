/* Data of slurmctld that the plugin reads. Unlike functions, data is looked up when a plugin is loaded, and
 * clients of libslurm do not have it: weak references let select_rail.so load there as well. */
#ifndef RAILYARD_SCHED_SLURM_GLOBALS_H
#define RAILYARD_SCHED_SLURM_GLOBALS_H

#include "config.h"

#include "src/common/node_conf.h"
#include "src/slurmctld/slurmctld.h"

extern List job_list __attribute__((weak));
extern int node_record_count __attribute__((weak));
extern node_record_t** node_record_table_ptr __attribute__((weak));

#endif
