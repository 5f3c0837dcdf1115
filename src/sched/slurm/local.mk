# src/sched/slurm
