tests_unit_unit_core_SOURCES = \
	%D%/bad_host_test.cpp \
	%D%/bounds_test.cpp \
	%D%/derived_test.cpp \
	%D%/exclusion_test.cpp \
	%D%/file_doubt_test.cpp \
	%D%/fuzz_test.cpp \
	%D%/health_test.cpp \
	%D%/job_kinds_test.cpp \
	%D%/node_loss_test.cpp \
	%D%/recovery_test.cpp \
	%D%/world.cpp %D%/world.hpp
tests_unit_unit_core_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_core_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_core_LDADD = libry_unit.la libry_restart_core.la
