# The unit tests are a Catch2 program for each part, so that a change to one part links one program: tests/run tells
# each test case of what stands in unit_programs; tests/tests.map says which of them it builds with sanitizers. Each part's fragment names its sources and libraries.
# Those that run longest come first.
unit_programs = tests/unit/unit_sched tests/unit/unit_topo tests/unit/unit_core \
	tests/unit/unit_worlds tests/unit/unit_watch tests/unit/unit_ckpt tests/unit/unit_daemon tests/unit/unit_wire tests/unit/unit_base tests/unit/unit_spank \
	tests/unit/unit_ctl tests/unit/unit_probe tests/unit/unit_check tests/unit/unit_run tests/unit/unit_check_net
check_PROGRAMS += $(unit_programs)
# Before anything is compiled in vain.
.PHONY: check-parts
check-am: check-parts
check-parts:
	@test -z "$(TESTS_MISSING)" || { echo "make check: $(TESTS_MISSING) is missing: as root, build-aux/debian-packages install" >&2; exit 1; }
TESTS += $(unit_programs)
# Far more seconds than any of them takes: what hangs fails, and says where.
LOG_COMPILER = $(top_srcdir)/tests/deadline
AM_LOG_FLAGS = 900
unit_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
unit_cxxflags = $(PRECOMPILED_TEST) $(TEST_CXXFLAGS) $(WARN_CXXFLAGS) $(FMT_CFLAGS)
# Catch2 itself, compiled once.
check_LTLIBRARIES += libry_unit.la
libry_unit_la_SOURCES = %D%/unit/main.cpp %D%/unit/folder.hpp %D%/unit/patience.cpp %D%/unit/patience.hpp \
	%D%/unit/source.cpp %D%/unit/source.hpp %D%/unit/trials.hpp
libry_unit_la_CPPFLAGS = $(unit_cppflags)
# The one object that knows where the tree is: all others are the same in each copy of it, for a compiler cache.
%D%/unit/source_folder.h: Makefile
	$(AM_V_GEN)$(MKDIR_P) %D%/unit && echo '#define TOP_SRCDIR "$(abs_top_srcdir)"' >$@.tmp; \
	if cmp -s $@.tmp $@; then rm $@.tmp; else mv $@.tmp $@; fi
$(libry_unit_la_OBJECTS): | %D%/unit/source_folder.h
CLEANFILES += %D%/unit/source_folder.h
libry_unit_la_CXXFLAGS = $(TEST_CXXFLAGS) $(WARN_CXXFLAGS) $(FMT_CFLAGS)

# The longest come first: what is left at the end runs beside nothing.
include tests/packages/local.mk

include tests/unit/base/local.mk
include tests/unit/topo/local.mk
include tests/unit/probe/local.mk
include tests/unit/sched/local.mk
include tests/unit/sched/advise/local.mk
include tests/unit/sched/lsf/local.mk
include tests/unit/sched/plan/local.mk
include tests/unit/sched/slurm/local.mk
include tests/unit/spank/local.mk
include tests/unit/restart/wire/local.mk
include tests/unit/restart/ucx/local.mk
include tests/unit/restart/watch/local.mk
include tests/unit/check/local.mk
include tests/unit/check/net/local.mk
include tests/unit/restart/ckpt/local.mk
include tests/unit/restart/run/local.mk
include tests/unit/restart/lsf/local.mk
include tests/unit/restart/core/local.mk
include tests/unit/restart/ctl/local.mk
include tests/unit/restart/daemon/local.mk
include tests/unit/restart/web/local.mk
include tests/golden/local.mk
include tests/fuzz/local.mk
include tests/doubles/local.mk
include tests/apps/local.mk
include tests/examples/local.mk
include tests/bare/local.mk
include tests/lint/local.mk
include tests/firstday/local.mk
include tests/system/local.mk
include tests/bench/local.mk
EXTRA_DIST += tests/ahead.py tests/deadline tests/run tests/sets.py tests/tests.map tests/stages.py tests/under-load
