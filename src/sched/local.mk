# sched: placement, pure: no I/O, no clock, no exception leaves it (plugins link it into slurmctld).
noinst_LTLIBRARIES += libry_sched.la
libry_sched_la_SOURCES = \
	%D%/align.cpp %D%/align.hpp \
	%D%/avoidance.hpp \
	%D%/budget.hpp \
	%D%/capacity.cpp %D%/capacity.hpp \
	%D%/choose.cpp %D%/choose.hpp \
	%D%/cover.cpp %D%/cover.hpp \
	%D%/cover_labels.hpp \
	%D%/dynamic_program.cpp %D%/dynamic_program.hpp \
	%D%/explain.cpp %D%/explain.hpp \
	%D%/bounds.cpp %D%/bounds.hpp \
	%D%/few_idle.cpp %D%/few_idle.hpp \
	%D%/fit.cpp %D%/fit.hpp \
	%D%/found.cpp %D%/found.hpp \
	%D%/hints.cpp %D%/hints.hpp \
	%D%/index.cpp %D%/index.hpp \
	%D%/keep.cpp %D%/keep.hpp \
	%D%/judge_flags.cpp %D%/judge_flags.hpp \
	%D%/lacking.cpp %D%/lacking.hpp \
	%D%/loads.cpp %D%/loads.hpp \
	%D%/narrow.cpp %D%/narrow.hpp \
	%D%/nested.cpp %D%/nested.hpp \
	%D%/nested_deal.cpp %D%/nested_deal.hpp \
	%D%/nested_fit.cpp %D%/nested_fit.hpp \
	%D%/nested_parts.cpp %D%/nested_parts.hpp \
	%D%/nested_program.cpp %D%/nested_program.hpp \
	%D%/one_host.cpp %D%/one_host.hpp \
	%D%/one_measure.cpp %D%/one_measure.hpp \
	%D%/outlook.cpp %D%/outlook.hpp \
	%D%/packed_cost.hpp \
	%D%/place.cpp %D%/place.hpp \
	%D%/placing.cpp %D%/placing.hpp \
	%D%/preempt.cpp %D%/preempt.hpp \
	%D%/preflight_wish.cpp %D%/preflight_wish.hpp \
	%D%/rank_order.cpp %D%/rank_order.hpp \
	%D%/reasons.cpp %D%/reasons.hpp \
	%D%/request.cpp %D%/request.hpp \
	%D%/row_ops.hpp \
	%D%/score.cpp %D%/score.hpp \
	%D%/search.cpp %D%/search.hpp \
	%D%/search_tier.cpp %D%/search_tier.hpp \
	%D%/segmented.cpp %D%/segmented.hpp \
	%D%/segments.cpp %D%/segments.hpp \
	%D%/spare_floor.cpp %D%/spare_floor.hpp \
	%D%/snapshot.cpp %D%/snapshot.hpp \
	%D%/tally.cpp %D%/tally.hpp \
	%D%/tighten.cpp %D%/tighten.hpp \
	%D%/unit_options.hpp \
	%D%/words.cpp %D%/words.hpp
libry_sched_la_CXXFLAGS = $(AM_CXXFLAGS) $(HOT_CXXFLAGS)
sched_libs = libry_sched.la $(topo_libs)

# Explanations as JSON, and as tables from that JSON, which need nothing but base.
noinst_LTLIBRARIES += libry_explain.la libry_explain_show.la
libry_explain_la_SOURCES = %D%/explain_json.cpp %D%/explain_json.hpp
libry_explain_show_la_SOURCES = %D%/explain_show.cpp %D%/explain_show.hpp
explain_show_libs = libry_explain_show.la $(base_libs)
explain_libs = libry_explain.la $(explain_show_libs)

bin_PROGRAMS += railplan
railplan_SOURCES = \
	%D%/tool/batch.cpp \
	%D%/tool/bench.cpp \
	%D%/tool/command.hpp \
	%D%/tool/compare.cpp \
	%D%/tool/explain.cpp %D%/tool/explain.hpp \
	%D%/tool/job_lines.cpp %D%/tool/job_lines.hpp \
	%D%/tool/job_options.cpp %D%/tool/job_options.hpp \
	%D%/tool/oracle.cpp \
	%D%/tool/place.cpp \
	%D%/tool/railplan.cpp \
	%D%/tool/sbatch.cpp %D%/tool/sbatch.hpp \
	%D%/tool/scene.cpp %D%/tool/scene.hpp \
	%D%/tool/simulate.cpp
railplan_LDADD = $(explain_libs) $(plan_libs) $(dispatch_libs) $(slurm_libs) $(cli_libs)
