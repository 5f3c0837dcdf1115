tests_unit_unit_watch_SOURCES = \
	%D%/fabric/counter_sweep_test.cpp \
	%D%/fabric/link_judge_test.cpp \
	%D%/fabric/link_map_test.cpp \
	%D%/fabric/links.cpp %D%/fabric/links.hpp \
	%D%/fabric/link_waits_test.cpp \
	%D%/fabric/port_counters_test.cpp \
	%D%/fabric/wait_graph_test.cpp \
	%D%/cut_off_test.cpp \
	%D%/fabric_witness_test.cpp \
	%D%/gpu_presence_test.cpp \
	%D%/gpu_rules_test.cpp \
	%D%/host_rules_test.cpp \
	%D%/job_socket_test.cpp \
	%D%/job_test.cpp \
	%D%/leaf_links_test.cpp \
	%D%/listing_file_test.cpp \
	%D%/metrics_board_test.cpp \
	%D%/metrics_socket_test.cpp \
	%D%/month_test.cpp \
	%D%/mount_looks_test.cpp \
	%D%/nccl_looks_test.cpp \
	%D%/pace_meter_test.cpp \
	%D%/peer_looker_test.cpp \
	%D%/program_faults_test.cpp \
	%D%/reporter_test.cpp \
	%D%/recorded.hpp \
	%D%/recorded_gpu_test.cpp \
	%D%/rules/expectations_test.cpp \
	%D%/rules/manual_test.cpp \
	%D%/rules/rule_book_test.cpp \
	%D%/rules/rule_set_test.cpp \
	%D%/rules/rule_view_test.cpp \
	%D%/rules_test.cpp \
	%D%/run_apart_test.cpp \
	%D%/slow_rules_test.cpp \
	%D%/served_thread.hpp \
	%D%/signal_table_test.cpp \
	%D%/soak_test.cpp \
	%D%/sound_host.hpp \
	%D%/task_loop_test.cpp \
	%D%/ucx_test.cpp \
	%D%/unlisted_ports_test.cpp \
	%D%/watcher_test.cpp \
	%D%/window_test.cpp \
	%D%/xid_rules_test.cpp \
	%D%/xid_words_test.cpp \
	tests/unit/probe/hardware.hpp tests/unit/probe/ras_double.hpp \
	tests/unit/restart/ucx/ucx_view_test.cpp \
	tests/traces/gpu_faults.cpp tests/traces/host_faults.cpp \
	tests/traces/host_kinds.cpp tests/traces/host_kinds.hpp \
	tests/traces/host_noise.cpp tests/traces/port_faults.cpp tests/traces/xid_faults.cpp \
	tests/traces/host_trace.cpp tests/traces/host_trace.hpp \
	tests/unit/restart/wire/private_munged.cpp tests/unit/restart/wire/private_munged.hpp
tests_unit_unit_watch_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_watch_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_watch_LDADD = libry_unit.la $(watch_libs) libry_ucx.la
EXTRA_tests_unit_unit_watch_DEPENDENCIES = tests/doubles/libnvidia-ml.so.1

TESTS += %D%/programs_test.py %D%/fabric/link_watch_test.py
EXTRA_DIST += %D%/programs_test.py %D%/fabric/link_watch_test.py
