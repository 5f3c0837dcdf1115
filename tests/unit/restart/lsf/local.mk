tests_unit_unit_run_SOURCES += \
	%D%/allocation_test.cpp \
	%D%/job_environment_test.cpp \
	%D%/shell_test.cpp \
	%D%/starts_test.cpp
tests_unit_unit_run_LDADD += $(lsf_job_libs)
TESTS += %D%/bsub_test.py %D%/rail_lsf_run_test.py
EXTRA_DIST += %D%/bsub_test.py %D%/rail_lsf_run_test.py
