# restart/daemon: restartd.
# All but its main.
noinst_LTLIBRARIES += libry_daemon.la
libry_daemon_la_SOURCES = \
	%D%/api.cpp %D%/api.hpp %D%/api_checks.cpp %D%/api_explain.cpp %D%/api_signals.cpp \
	%D%/check_views.cpp %D%/check_views.hpp \
	%D%/database.cpp %D%/database.hpp \
	%D%/dispatcher.cpp %D%/dispatcher.hpp \
	%D%/driver.cpp %D%/driver.hpp %D%/driver_ask.cpp %D%/driver_files.cpp %D%/driver_gauges.cpp \
	%D%/driver_programs.cpp \
	%D%/driver_rm.cpp \
	%D%/fabric_file.cpp %D%/fabric_file.hpp \
	%D%/front.cpp %D%/front.hpp \
	%D%/health_writer.cpp %D%/health_writer.hpp \
	%D%/journal.cpp %D%/journal.hpp \
	%D%/journal_events.cpp \
	%D%/journal_file.cpp %D%/journal_file.hpp \
	%D%/journal_lock.cpp %D%/journal_lock.hpp \
	%D%/lease.cpp %D%/lease.hpp \
	%D%/lease_folder.cpp %D%/lease_folder.hpp \
	%D%/lease_keeper.cpp %D%/lease_keeper.hpp \
	%D%/link_views.cpp %D%/link_views.hpp \
	%D%/metrics.cpp %D%/metrics.hpp \
	%D%/metrics_tokens.cpp %D%/metrics_tokens.hpp \
	%D%/plan.cpp %D%/plan.hpp \
	%D%/program.cpp %D%/program.hpp \
	%D%/rate_views.cpp %D%/rate_views.hpp \
	%D%/replay.cpp %D%/replay.hpp \
	%D%/rm_users.cpp %D%/rm_users.hpp \
	%D%/roles.cpp %D%/roles.hpp \
	%D%/seats.hpp \
	%D%/signal_book.cpp %D%/signal_book.hpp \
	%D%/situation.cpp %D%/situation.hpp \
	%D%/store.cpp %D%/store.hpp \
	%D%/views.cpp %D%/views.hpp \
	%D%/why_writer.cpp %D%/why_writer.hpp
libry_daemon_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
libry_daemon_la_LIBADD = $(SQLITE_LIBS)
below_restartd = $(web_libs) $(http_libs) $(restart_core_libs) $(explain_libs) $(dispatch_libs) $(lsf_libs) $(slurm_libs)
restartd_libs = libry_daemon.la libry_rm.la $(below_restartd)

sbin_PROGRAMS += restartd
restartd_SOURCES = %D%/restartd.cpp
restartd_LDADD = $(restartd_libs) $(cli_libs)

# For another release of Slurm.
if SECOND_SLURM_SRC
check_PROGRAMS += second/restartd
second_restartd_SOURCES = $(restartd_SOURCES)
second_restartd_LDADD = libry_daemon.la libry_rm_second.la $(below_restartd) $(cli_libs)
endif
