# The unit tests are one program; each part's fragment below adds its files to unit_sources and its libraries to unit_libs.
# What stands in unit_programs is a Catch2 program: tests/run tells each of its test cases.
unit_programs = tests/unit/unit_tests
check_PROGRAMS += $(unit_programs)
TESTS += $(unit_programs)
tests_unit_unit_tests_SOURCES = %D%/unit/main.cpp $(unit_sources)
tests_unit_unit_tests_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_SRCDIR='"$(abs_top_srcdir)/tests"'
tests_unit_unit_tests_LDADD = $(unit_libs)
if SANITIZED
# What is tested is optimised, the tests are not: UBSan makes GCC slow where it optimises.
tests_unit_unit_tests_CXXFLAGS = $(AM_CXXFLAGS) -O0
endif

include tests/unit/base/local.mk
include tests/unit/topo/local.mk
# Before what it links.
include tests/unit/sched/plan/local.mk
include tests/unit/sched/local.mk
include tests/unit/sched/slurm/local.mk
include tests/unit/spank/local.mk
include tests/unit/restart/local.mk
include tests/unit/watch/local.mk
include tests/unit/ckpt/local.mk
include tests/golden/local.mk
include tests/fuzz/local.mk
include tests/doubles/local.mk
include tests/apps/local.mk
include tests/bare/local.mk
include tests/lint/local.mk
include tests/system/local.mk
include tests/bench/local.mk
EXTRA_DIST += tests/run tests/stages.py
