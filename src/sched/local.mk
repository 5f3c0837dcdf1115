# src/sched
