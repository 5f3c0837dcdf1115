# plan: what railplan works out beside place(): the slow truth, and several jobs at once. Pure.
noinst_LTLIBRARIES += libry_plan.la
libry_plan_la_SOURCES = \
	%D%/batch.cpp %D%/batch.hpp \
	%D%/exhaustive.cpp %D%/exhaustive.hpp
plan_libs = libry_plan.la $(sched_libs)
