tests_unit_unit_sched_SOURCES += \
	%D%/bsub_test.cpp \
	%D%/dispatch_test.cpp \
	%D%/easy.hpp %D%/easy_test.cpp \
	%D%/elim_line_test.cpp \
	%D%/fairshare_test.cpp \
	%D%/job_line_test.cpp
tests_unit_unit_sched_LDADD += $(lsf_libs) $(dispatch_libs)
TESTS += %D%/elim_test.py %D%/esub_test.py
EXTRA_DIST += %D%/elim_test.py %D%/esub_test.py
