tests_unit_unit_sched_SOURCES += %D%/attempts_test.cpp %D%/submission_test.cpp %D%/advisor_test.cpp

# Replaces operator new, so it is a program of its own.
check_PROGRAMS += tests/unit/sched/slurm/short_memory
TESTS += tests/unit/sched/slurm/short_memory
tests_unit_sched_slurm_short_memory_SOURCES = %D%/short_memory.cpp
tests_unit_sched_slurm_short_memory_LDADD = libry_advisor.la
