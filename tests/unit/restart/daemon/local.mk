# restartd and railctl, and the reading of Slurm's records.
tests_unit_unit_daemon_SOURCES = \
	%D%/api_test.cpp \
	%D%/driver_test.cpp \
	%D%/journal_test.cpp \
	%D%/metrics_test.cpp \
	%D%/rm_double.hpp \
	%D%/situation_test.cpp \
	%D%/store_test.cpp \
	tests/unit/restart/rm/slurm_reading_test.cpp \
	tests/unit/restart/wire/private_munged.cpp tests/unit/restart/wire/private_munged.hpp
tests_unit_unit_daemon_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_daemon_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_daemon_LDADD = libry_unit.la libry_railctl.la $(restartd_libs)
