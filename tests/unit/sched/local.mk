# tests/unit/sched
