unit_sources += %D%/batch_test.cpp %D%/exhaustive_test.cpp
unit_libs += libry_plan.la
TESTS += %D%/batch_ilp_test.py
EXTRA_DIST += %D%/batch_ilp_test.py
