# The advisor: where gangs go, for any resource manager's scheduler.
noinst_LTLIBRARIES += libry_advisor.la
libry_advisor_la_SOURCES = \
	%D%/advisor.cpp %D%/advisor.hpp \
	%D%/attempts.cpp %D%/attempts.hpp \
	%D%/placement_files.cpp %D%/placement_files.hpp \
	%D%/takeover.cpp %D%/world.hpp
advisor_libs = libry_advisor.la $(sched_libs)
