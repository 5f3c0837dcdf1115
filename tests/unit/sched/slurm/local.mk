tests_unit_unit_sched_SOURCES += %D%/admin_comment_test.cpp %D%/advisor_test.cpp %D%/host_states_test.cpp \
	%D%/queue_text_test.cpp %D%/submission_test.cpp

# Replaces operator new, so it is a program of its own.
check_PROGRAMS += tests/unit/sched/slurm/short_memory
TESTS += tests/unit/sched/slurm/short_memory
tests_unit_sched_slurm_short_memory_SOURCES = %D%/short_memory.cpp
tests_unit_sched_slurm_short_memory_LDADD = libry_slurm.la
