/* Works around a Slurm bug that would keep recovered hosts idle. Needs slurm_inside.h before it. */
#ifndef RAILYARD_SCHED_SLURM_NODE_HOLDS_H
#define RAILYARD_SCHED_SLURM_NODE_HOLDS_H

/* Frees the nodes that Slurm considers held exclusively (OverSubscribe=EXCLUSIVE, --exclusive) though no
 * job runs there.
 *
 * An exclusive job that loses a node and continues (--no-kill) returns it through make_node_idle(). This
 * decrements run_job_cnt but, in 22.05 to 24.11, not no_share_job_cnt, as make_node_comp() does. From then
 * on each job that ends slowly on that node leaves it out of share_node_bitmap: idle and resumed, but not
 * available to any job ("Requested nodes are busy"), until slurmctld next contacts it: a third of
 * SlurmdTimeout.
 *
 * Costs a walk of the node table. Needs write locks on jobs or on nodes, which are held for every question
 * to the plugins. */
void node_holds_correct(void);

#endif
