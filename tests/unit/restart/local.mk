tests_unit_unit_restart_SOURCES = \
	%D%/api_test.cpp \
	%D%/auth_test.cpp \
	%D%/bad_host_test.cpp \
	%D%/bounds_test.cpp \
	%D%/derived_test.cpp \
	%D%/driver_test.cpp \
	%D%/exclusion_test.cpp \
	%D%/file_doubt_test.cpp \
	%D%/folder.hpp \
	%D%/fuzz_test.cpp \
	%D%/health_test.cpp \
	%D%/http_test.cpp \
	%D%/job_kinds_test.cpp \
	%D%/journal_test.cpp \
	%D%/metrics_test.cpp \
	%D%/node_loss_test.cpp \
	%D%/private_munged.cpp %D%/private_munged.hpp \
	%D%/recovery_test.cpp \
	%D%/report_test.cpp \
	%D%/rm_double.hpp \
	%D%/situation_test.cpp \
	%D%/slurm_reading_test.cpp \
	%D%/world.cpp %D%/world.hpp
tests_unit_unit_restart_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_restart_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_restart_LDADD = libry_unit.la libry_railctl.la $(restartd_libs)
