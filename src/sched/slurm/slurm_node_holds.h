/* A fault of Slurm's, mended where it would keep recovered hosts idle. Needs slurm_inside.h before it. */
#ifndef RAILYARD_SCHED_SLURM_NODE_HOLDS_H
#define RAILYARD_SCHED_SLURM_NODE_HOLDS_H

/* Frees the nodes that Slurm takes for held whole (OverSubscribe=EXCLUSIVE, --exclusive) though no job runs
 * there.
 *
 * A job of whole nodes that loses one and goes on (--no-kill) gives it back by make_node_idle(), which counts
 * it out of run_job_cnt but, in 22.05 to 24.11, not out of no_share_job_cnt as make_node_comp() does. From
 * then on each job that ends slowly on that node leaves it out of share_node_bitmap, idle, resumed and
 * refused to everyone ("Requested nodes are busy"), until slurmctld next hears of it: a third of
 * SlurmdTimeout.
 *
 * Costs a walk of the node table. Needs write locks on jobs or on nodes, which every question to the plugins
 * comes with. */
void node_holds_correct(void);

#endif
