tests_unit_unit_sched_SOURCES += %D%/batch_test.cpp %D%/exhaustive_test.cpp
TESTS += %D%/batch_ilp_test.py
EXTRA_DIST += %D%/batch_ilp_test.py
