tests_unit_unit_sched_SOURCES += %D%/elim_line_test.cpp %D%/job_line_test.cpp
tests_unit_unit_sched_LDADD += libry_lsf.la
TESTS += %D%/elim_test.py
EXTRA_DIST += %D%/elim_test.py
