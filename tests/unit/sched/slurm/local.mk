tests_unit_unit_sched_SOURCES += %D%/admin_comment_test.cpp %D%/advisor_test.cpp %D%/host_states_test.cpp \
	%D%/queue_text_test.cpp %D%/submission_test.cpp

# Replaces operator new, so it is a program of its own.
check_PROGRAMS += tests/unit/sched/slurm/short_memory
TESTS += tests/unit/sched/slurm/short_memory
tests_unit_sched_slurm_short_memory_SOURCES = %D%/short_memory.cpp tests/unit/patience.cpp tests/unit/patience.hpp
tests_unit_sched_slurm_short_memory_CPPFLAGS = $(unit_cppflags)
tests_unit_sched_slurm_short_memory_LDADD = $(slurm_libs)

# Needs a release's headers, and each of its cases a process of its own.
if SECOND_SLURM_SRC_TOPOLOGY
check_PROGRAMS += tests/unit/sched/slurm/layout_of_records
TESTS += tests/unit/sched/slurm/layout_of_records
endif
tests_unit_sched_slurm_layout_of_records_SOURCES = %D%/layout_of_records.c src/sched/slurm/slurm_layout.c src/sched/slurm/slurm_layout.h
tests_unit_sched_slurm_layout_of_records_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src/sched/slurm $(SECOND_SLURM_SRC_CPPFLAGS)
