# restart/daemon: restartd and railctl. libry_http is the protocol's two ends, which agents use too.
noinst_LTLIBRARIES += libry_http.la
libry_http_la_SOURCES = \
	%D%/http.cpp %D%/http.hpp \
	%D%/http_client.cpp %D%/http_client.hpp \
	%D%/http_server.cpp %D%/http_server.hpp \
	%D%/munge_auth.cpp %D%/munge_auth.hpp
libry_http_la_CPPFLAGS = $(AM_CPPFLAGS) $(CRYPTO_CFLAGS)
libry_http_la_LIBADD = libry_base.la $(MUNGE_LIBS) $(CRYPTO_LIBS) -lpthread

# What restartd is made of, beside its main.
noinst_LTLIBRARIES += libry_daemon.la
libry_daemon_la_SOURCES = \
	%D%/api.cpp %D%/api.hpp \
	%D%/database.cpp %D%/database.hpp \
	%D%/driver.cpp %D%/driver.hpp \
	%D%/health_writer.cpp %D%/health_writer.hpp \
	%D%/journal.cpp %D%/journal.hpp \
	%D%/metrics.cpp %D%/metrics.hpp \
	%D%/roles.cpp %D%/roles.hpp \
	%D%/situation.cpp %D%/situation.hpp \
	%D%/views.cpp %D%/views.hpp \
	%D%/why_writer.cpp %D%/why_writer.hpp
libry_daemon_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
# libtool would copy each library named here into this one, at every change below: who links this names them.
libry_daemon_la_LIBADD = $(SQLITE_LIBS)
restartd_libs = libry_daemon.la libry_rm.la libry_http.la libry_restart_core.la libry_explain.la libry_sched.la

sbin_PROGRAMS += restartd
restartd_SOURCES = %D%/restartd.cpp
restartd_LDADD = $(restartd_libs) libry_cli.la

noinst_LTLIBRARIES += libry_railctl.la
libry_railctl_la_SOURCES = %D%/railctl_show.cpp %D%/railctl_show.hpp
libry_railctl_la_LIBADD = libry_explain.la libry_base.la
bin_PROGRAMS += railctl
railctl_SOURCES = %D%/railctl.cpp
railctl_LDADD = libry_railctl.la libry_http.la libry_cli.la
