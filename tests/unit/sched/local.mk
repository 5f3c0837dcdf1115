tests_unit_unit_sched_SOURCES = %D%/budget_test.cpp \
	%D%/cases.hpp %D%/dear.hpp %D%/dense_oracle.hpp %D%/domain_oracle.hpp \
	%D%/derived_test.cpp \
	%D%/exact_test.cpp \
	%D%/explain_test.cpp \
	%D%/grid.hpp \
	%D%/hints_test.cpp \
	%D%/keep_test.cpp \
	%D%/narrow_test.cpp \
	%D%/one_host_test.cpp \
	%D%/oracle.hpp \
	%D%/outlook_test.cpp \
	%D%/place_test.cpp \
	%D%/preempt_test.cpp \
	%D%/rank_order_test.cpp \
	%D%/row_ops_test.cpp \
	%D%/score_test.cpp \
	%D%/spare_floor_test.cpp
tests_unit_unit_sched_CPPFLAGS = $(unit_cppflags)
# Its oracles try every set of hosts: not optimised they take a minute and a half.
tests_unit_unit_sched_CXXFLAGS = $(unit_cxxflags) -O1
tests_unit_unit_sched_LDADD = libry_unit.la $(plan_libs) $(explain_libs) $(slurm_libs)
