# restart/watch: nodewatchd, which watches one host, and fabricwatchd, which watches the fabric.
noinst_LTLIBRARIES += libry_watch.la
libry_watch_la_SOURCES = \
	%D%/background.hpp \
	%D%/cut_off.cpp %D%/cut_off.hpp \
	%D%/fabric/counter_sweep.cpp %D%/fabric/counter_sweep.hpp \
	%D%/fabric/link_judge.cpp %D%/fabric/link_judge.hpp \
	%D%/fabric/link_map.cpp %D%/fabric/link_map.hpp \
	%D%/fabric/link_signals.cpp %D%/fabric/link_signals.hpp \
	%D%/fabric/link_waits.cpp %D%/fabric/link_waits.hpp \
	%D%/fabric/port_counters.cpp %D%/fabric/port_counters.hpp \
	%D%/fabric/seen_ends.cpp %D%/fabric/seen_ends.hpp \
	%D%/fabric/wait_graph.cpp %D%/fabric/wait_graph.hpp \
	%D%/fabric_witness.cpp %D%/fabric_witness.hpp \
	%D%/gpu_presence.cpp %D%/gpu_presence.hpp \
	%D%/gpu_signals.cpp %D%/gpu_signals.hpp \
	%D%/host_signals.cpp %D%/host_signals.hpp \
	%D%/job_book.cpp %D%/job_book.hpp \
	%D%/job_session.cpp %D%/job_session.hpp \
	%D%/job_socket.cpp %D%/job_socket.hpp \
	%D%/judge.cpp %D%/judge.hpp \
	%D%/leaf_links.cpp %D%/leaf_links.hpp \
	%D%/listing_file.cpp %D%/listing_file.hpp \
	%D%/metrics_board.cpp %D%/metrics_board.hpp \
	%D%/metrics_page.cpp %D%/metrics_page.hpp \
	%D%/metrics_socket.cpp %D%/metrics_socket.hpp \
	%D%/mount_looks.cpp %D%/mount_looks.hpp \
	%D%/nccl_looks.cpp %D%/nccl_looks.hpp \
	%D%/pace_meter.cpp %D%/pace_meter.hpp \
	%D%/peer_looker.cpp %D%/peer_looker.hpp \
	%D%/port_signals.cpp %D%/port_signals.hpp \
	%D%/print.cpp %D%/print.hpp \
	%D%/reporter.cpp %D%/reporter.hpp \
	%D%/rules/describe.cpp %D%/rules/describe.hpp \
	%D%/rules/events.cpp %D%/rules/events.hpp \
	%D%/rules/evidence.cpp %D%/rules/evidence.hpp \
	%D%/rules/expectations.cpp %D%/rules/expectations.hpp \
	%D%/rules/fields.cpp %D%/rules/fields.hpp \
	%D%/rules/pattern.cpp %D%/rules/pattern.hpp \
	%D%/rules/rule.hpp \
	%D%/rules/rule_book.cpp %D%/rules/rule_book.hpp \
	%D%/rules/rule_reader.cpp %D%/rules/rule_reader.hpp \
	%D%/rules/rule_set.cpp %D%/rules/rule_set.hpp \
	%D%/rules/rule_state.cpp %D%/rules/rule_state.hpp \
	%D%/rules/rule_view.cpp %D%/rules/rule_view.hpp \
	%D%/rules/signal.cpp %D%/rules/signal.hpp \
	%D%/rules/table.cpp %D%/rules/table.hpp \
	%D%/rules/table_expected.cpp %D%/rules/table_expected.hpp \
	%D%/rules/table_gpu.cpp %D%/rules/table_host.cpp %D%/rules/table_ib.cpp %D%/rules/table_link.cpp %D%/rules/table_log.cpp \
	%D%/rules/table_ucx.cpp %D%/rules/table_xid.cpp \
	%D%/rules_file.cpp %D%/rules_file.hpp \
	%D%/run_apart.cpp %D%/run_apart.hpp \
	%D%/sample.hpp \
	%D%/served.cpp %D%/served.hpp \
	%D%/signal_table.cpp %D%/signal_table.hpp \
	%D%/sources.cpp %D%/sources.hpp \
	%D%/task_loop.cpp %D%/task_loop.hpp \
	%D%/ucx_book.cpp %D%/ucx_book.hpp \
	%D%/ucx_intake.cpp %D%/ucx_intake.hpp \
	%D%/ucx_port.cpp %D%/ucx_port.hpp \
	%D%/ucx_signals.cpp %D%/ucx_signals.hpp \
	%D%/unix_listener.cpp %D%/unix_listener.hpp \
	%D%/watcher.cpp %D%/watcher.hpp \
	%D%/window.cpp %D%/window.hpp \
	%D%/xid_words.cpp %D%/xid_words.hpp
libry_watch_la_LIBADD = -lpthread
watch_libs = libry_watch.la $(probe_libs) $(http_libs)

noinst_LTLIBRARIES += libry_mad_notices.la
libry_mad_notices_la_SOURCES = \
	%D%/fabric/link_watch.cpp %D%/fabric/link_watch.hpp \
	%D%/fabric/mad_counters.cpp %D%/fabric/mad_counters.hpp \
	%D%/link_notices.cpp %D%/link_notices.hpp \
	%D%/mad_notices.cpp %D%/mad_notices.hpp
libry_mad_notices_la_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
libry_mad_notices_la_LIBADD = $(IBMAD_LIBS)
mad_notices_libs = libry_mad_notices.la $(watch_libs)

sbin_PROGRAMS += nodewatchd fabricwatchd
nodewatchd_SOURCES = %D%/nodewatchd.cpp
nodewatchd_LDADD = $(watch_libs) $(cli_libs)
fabricwatchd_SOURCES = %D%/fabricwatchd.cpp
fabricwatchd_LDADD = $(mad_notices_libs) $(mad_discover_libs) $(cli_libs)
