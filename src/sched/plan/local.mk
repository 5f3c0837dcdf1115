# plan: what railplan works out beside place(): the slow truth, and several jobs at once. Pure; what links it links
# libry_sched.la too.
noinst_LTLIBRARIES += libry_plan.la
libry_plan_la_SOURCES = \
	%D%/batch.cpp %D%/batch.hpp \
	%D%/exhaustive.cpp %D%/exhaustive.hpp
