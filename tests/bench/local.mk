# Benchmarks: `make bench` builds and runs each of bench_programs, built here or scripts of the source;
# exit status 77 is a skip that has told its reason.
bench_programs = tests/bench/place_bench tests/bench/exact_bench tests/bench/dispatch_bench tests/bench/queue_bench.py tests/bench/quality_bench.py tests/unit/sched/plan/batch_ilp_test.py \
	tests/bench/topo_bench tests/bench/faults_bench tests/bench/topo_live_bench.py \
	tests/bench/counters_bench.py tests/bench/ckpt_bench tests/bench/watch_bench tests/bench/slurmctld_bench.py \
	tests/bench/driver_bench tests/bench/restartd_bench tests/bench/signals_bench tests/bench/straggler_bench tests/bench/netfit_bench \
	tests/bench/agent_bench.py tests/bench/preflight_bench.py tests/bench/recovery_bench.py tests/bench/lsf_bench.py
EXTRA_DIST += tests/bench/lsf_bench.py tests/bench/queue_bench.py tests/bench/agent_bench.py tests/bench/build_bench.py tests/bench/counters_bench.py tests/bench/preflight_bench.py tests/bench/quality_bench.py tests/bench/recovery_bench.py tests/bench/slurmctld_bench.py \
	tests/bench/topo_live_bench.py
EXTRA_PROGRAMS = tests/bench/place_bench tests/bench/exact_bench tests/bench/dispatch_bench tests/bench/placement_cases tests/bench/topo_bench tests/bench/faults_bench tests/bench/ckpt_bench tests/bench/watch_bench \
	tests/bench/driver_bench tests/bench/restartd_bench tests/bench/signals_bench tests/bench/straggler_bench tests/bench/netfit_bench \
	tests/bench/mad_counters_bench tests/bench/pread_bench
CLEANFILES += $(EXTRA_PROGRAMS)
tests_bench_place_bench_SOURCES = %D%/place_bench.cpp
tests_bench_place_bench_LDADD = $(sched_libs) $(cli_libs)
tests_bench_exact_bench_SOURCES = %D%/exact_bench.cpp
tests_bench_exact_bench_LDADD = $(sched_libs) $(cli_libs)
tests_bench_dispatch_bench_SOURCES = %D%/dispatch_bench.cpp
tests_bench_dispatch_bench_LDADD = $(dispatch_libs) $(cli_libs)
tests_bench_placement_cases_SOURCES = %D%/placement_cases.cpp
tests_bench_placement_cases_LDADD = $(sched_libs) $(cli_libs)
tests_bench_topo_bench_SOURCES = %D%/topo_bench.cpp
tests_bench_topo_bench_LDADD = $(topo_libs) $(cli_libs)
tests_bench_faults_bench_SOURCES = %D%/faults_bench.cpp %D%/fault_planter.cpp %D%/fault_planter_switches.cpp %D%/fault_planter.hpp
tests_bench_faults_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_bench_faults_bench_LDADD = $(topo_libs) $(cli_libs)
tests_bench_ckpt_bench_SOURCES = %D%/ckpt_bench.cpp
tests_bench_ckpt_bench_LDADD = $(ckpt_libs) $(cli_libs)
tests_bench_watch_bench_SOURCES = %D%/watch_bench.cpp
tests_bench_watch_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_bench_watch_bench_LDADD = $(kinds_libs) $(ckpt_libs) $(cli_libs)
tests_bench_mad_counters_bench_SOURCES = %D%/mad_counters_bench.cpp
tests_bench_mad_counters_bench_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
tests_bench_mad_counters_bench_LDADD = $(mad_notices_libs) $(mad_discover_libs)
tests_bench_pread_bench_SOURCES = %D%/pread_bench.cpp
tests_bench_pread_bench_LDADD = $(probe_libs)
tests_bench_driver_bench_SOURCES = %D%/driver_bench.cpp tests/unit/patience.cpp tests/unit/patience.hpp
tests_bench_driver_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_bench_driver_bench_LDADD = $(restartd_libs) $(cli_libs)
tests_bench_restartd_bench_SOURCES = \
	%D%/restartd_agents.cpp %D%/restartd_agents.hpp \
	%D%/restartd_bench.cpp \
	%D%/restartd_yard.cpp %D%/restartd_yard.hpp \
	tests/unit/patience.cpp tests/unit/patience.hpp \
	tests/unit/restart/wire/private_munged.cpp tests/unit/restart/wire/private_munged.hpp
tests_bench_restartd_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_bench_restartd_bench_LDADD = $(restartd_libs) $(cli_libs)
tests_bench_signals_bench_SOURCES = %D%/signals_bench.cpp \
	tests/traces/gpu_faults.cpp tests/traces/host_faults.cpp \
	tests/traces/host_kinds.cpp tests/traces/host_kinds.hpp \
	tests/traces/host_noise.cpp tests/traces/port_faults.cpp tests/traces/xid_faults.cpp \
	tests/traces/host_trace.cpp tests/traces/host_trace.hpp
tests_bench_signals_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_bench_signals_bench_LDADD = $(watch_libs) $(cli_libs)
tests_bench_straggler_bench_SOURCES = %D%/straggler_bench.cpp tests/traces/job_trace.cpp tests/traces/job_trace.hpp
tests_bench_straggler_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_bench_straggler_bench_LDADD = $(restart_core_libs) $(cli_libs)
tests_bench_netfit_bench_SOURCES = %D%/netfit_bench.cpp tests/traces/rail_matrix.cpp tests/traces/rail_matrix.hpp
tests_bench_netfit_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_bench_netfit_bench_LDADD = $(check_net_libs) $(cli_libs)

.PHONY: bench
bench: $(EXTRA_PROGRAMS) all
	@for program in $(bench_programs); do \
	    test -x ./$$program || program=$(srcdir)/$$program; \
	    echo "== $$program"; $$program || test $$? -eq 77 || exit 1; echo; \
	done

# What developers wait for, beside the targets: the better part of an hour; one row with ONLY=change and the like.
# BESIDE=REV: what compiling costs here and at that revision instead.
.PHONY: bench-build
bench-build:
	$(srcdir)/%D%/build_bench.py --build . $(if $(ONLY),--only $(ONLY)) $(if $(BESIDE),--beside $(BESIDE))
