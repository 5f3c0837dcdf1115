# sched: placement, pure: no I/O, no clock, no exception leaves it (plugins link it into slurmctld).
noinst_LTLIBRARIES += libry_sched.la
libry_sched_la_SOURCES = \
	%D%/explain.cpp %D%/explain.hpp \
	%D%/one_host.cpp %D%/one_host.hpp \
	%D%/outlook.cpp %D%/outlook.hpp \
	%D%/place.cpp %D%/place.hpp \
	%D%/placing.cpp %D%/placing.hpp \
	%D%/preempt.cpp %D%/preempt.hpp \
	%D%/score.cpp %D%/score.hpp \
	%D%/ask/capacity.cpp %D%/ask/capacity.hpp \
	%D%/ask/hints.cpp %D%/ask/hints.hpp \
	%D%/ask/index.cpp %D%/ask/index.hpp \
	%D%/ask/judge_flags.cpp %D%/ask/judge_flags.hpp \
	%D%/ask/preflight_wish.cpp %D%/ask/preflight_wish.hpp \
	%D%/ask/rank_order.cpp %D%/ask/rank_order.hpp \
	%D%/ask/request.cpp %D%/ask/request.hpp \
	%D%/ask/segments.cpp %D%/ask/segments.hpp \
	%D%/ask/snapshot.cpp %D%/ask/snapshot.hpp \
	%D%/ask/spare_floor.cpp %D%/ask/spare_floor.hpp \
	%D%/say/reasons.cpp %D%/say/reasons.hpp \
	%D%/say/tally.cpp %D%/say/tally.hpp \
	%D%/say/words.cpp %D%/say/words.hpp \
	%D%/search/align.cpp %D%/search/align.hpp \
	%D%/search/avoidance.hpp \
	%D%/search/bounds.cpp %D%/search/bounds.hpp \
	%D%/search/budget.hpp \
	%D%/search/choose.cpp %D%/search/choose.hpp \
	%D%/search/cover.cpp %D%/search/cover.hpp \
	%D%/search/cover_labels.hpp \
	%D%/search/dynamic_program.cpp %D%/search/dynamic_program.hpp \
	%D%/search/few_idle.cpp %D%/search/few_idle.hpp \
	%D%/search/fit.cpp %D%/search/fit.hpp \
	%D%/search/found.cpp %D%/search/found.hpp \
	%D%/search/keep.cpp %D%/search/keep.hpp \
	%D%/search/lacking.cpp %D%/search/lacking.hpp \
	%D%/search/loads.cpp %D%/search/loads.hpp \
	%D%/search/narrow.cpp %D%/search/narrow.hpp \
	%D%/search/nested.cpp %D%/search/nested.hpp \
	%D%/search/nested_deal.cpp %D%/search/nested_deal.hpp \
	%D%/search/nested_fit.cpp %D%/search/nested_fit.hpp \
	%D%/search/nested_parts.cpp %D%/search/nested_parts.hpp \
	%D%/search/nested_program.cpp %D%/search/nested_program.hpp \
	%D%/search/one_measure.cpp %D%/search/one_measure.hpp \
	%D%/search/packed_cost.hpp \
	%D%/search/row_ops.hpp \
	%D%/search/search.cpp %D%/search/search.hpp \
	%D%/search/search_tier.cpp %D%/search/search_tier.hpp \
	%D%/search/segmented.cpp %D%/search/segmented.hpp \
	%D%/search/tighten.cpp %D%/search/tighten.hpp \
	%D%/search/unit_options.hpp
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
