tests_unit_unit_run_SOURCES = \
	%D%/checkpoints_test.cpp \
	%D%/command_test.cpp \
	%D%/course_test.cpp \
	%D%/left_over_test.cpp \
	%D%/lsf_job_test.cpp \
	%D%/options_test.cpp \
	%D%/preflight_test.cpp \
	%D%/process_test.cpp \
	%D%/seats_test.cpp \
	%D%/slurm_job_test.cpp \
	%D%/warm_test.cpp
tests_unit_unit_run_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_run_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_run_LDADD = libry_unit.la $(run_libs) $(cli_libs)
