# restart/daemon: restartd.
# All but its main.
noinst_LTLIBRARIES += libry_daemon.la
libry_daemon_la_SOURCES = \
	%D%/api.cpp %D%/api.hpp \
	%D%/database.cpp %D%/database.hpp \
	%D%/driver.cpp %D%/driver.hpp \
	%D%/fabric_file.cpp %D%/fabric_file.hpp \
	%D%/health_writer.cpp %D%/health_writer.hpp \
	%D%/journal.cpp %D%/journal.hpp \
	%D%/metrics.cpp %D%/metrics.hpp \
	%D%/roles.cpp %D%/roles.hpp \
	%D%/situation.cpp %D%/situation.hpp \
	%D%/store.cpp %D%/store.hpp \
	%D%/views.cpp %D%/views.hpp \
	%D%/why_writer.cpp %D%/why_writer.hpp
libry_daemon_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
# libtool would copy each library named here into this one, at every change below: who links this names them.
libry_daemon_la_LIBADD = $(SQLITE_LIBS)
restartd_libs = libry_daemon.la libry_rm.la libry_http.la libry_restart_core.la libry_explain.la libry_sched.la

sbin_PROGRAMS += restartd
restartd_SOURCES = %D%/restartd.cpp
restartd_LDADD = $(restartd_libs) libry_cli.la
