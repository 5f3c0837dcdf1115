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
	%D%/database.cpp %D%/database.hpp \
	%D%/journal.cpp %D%/journal.hpp \
	%D%/metrics.cpp %D%/metrics.hpp
libry_daemon_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
libry_daemon_la_LIBADD = libry_http.la libry_restart_core.la $(SQLITE_LIBS)
