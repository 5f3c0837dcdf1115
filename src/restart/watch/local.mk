# restart/watch: nodewatchd, which watches one host, and fabricwatchd, which watches the fabric.
noinst_LTLIBRARIES += libry_watch.la
libry_watch_la_SOURCES = \
	%D%/background.hpp \
	%D%/fabric_file.cpp %D%/fabric_file.hpp \
	%D%/fabric_witness.cpp %D%/fabric_witness.hpp \
	%D%/job_book.cpp %D%/job_book.hpp \
	%D%/job_session.cpp %D%/job_session.hpp \
	%D%/job_socket.cpp %D%/job_socket.hpp \
	%D%/kmsg.cpp %D%/kmsg.hpp \
	%D%/nvml_abi.h \
	%D%/nvml_gpus.cpp %D%/nvml_gpus.hpp \
	%D%/print.cpp %D%/print.hpp \
	%D%/reporter.cpp %D%/reporter.hpp \
	%D%/rules.cpp %D%/rules.hpp %D%/rules_ports.cpp %D%/rules_table.cpp \
	%D%/run_apart.cpp %D%/run_apart.hpp \
	%D%/sample.hpp \
	%D%/signals.cpp %D%/signals.hpp \
	%D%/sources.cpp %D%/sources.hpp \
	%D%/sysfs_ib.cpp %D%/sysfs_ib.hpp \
	%D%/watcher.cpp %D%/watcher.hpp \
	%D%/window.cpp %D%/window.hpp \
	%D%/xid_table.cpp %D%/xid_table.hpp
libry_watch_la_LIBADD = libry_http.la libry_topo.la libry_base.la -ldl -lpthread

sbin_PROGRAMS += nodewatchd fabricwatchd
nodewatchd_SOURCES = %D%/nodewatchd.cpp
nodewatchd_LDADD = libry_watch.la libry_topo.la libry_cli.la
fabricwatchd_SOURCES = %D%/fabricwatchd.cpp
fabricwatchd_LDADD = libry_watch.la libry_mad_discover.la libry_topo.la libry_cli.la
