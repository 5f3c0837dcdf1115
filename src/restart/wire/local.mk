# restart/wire: what restartd, the agents, jobs and railctl say to each other, and how it travels.
noinst_LTLIBRARIES += libry_wire.la libry_http.la
# The messages, for which nothing but base is needed.
libry_wire_la_SOURCES = \
	%D%/check_word.cpp %D%/check_word.hpp \
	%D%/checks.cpp %D%/checks.hpp \
	%D%/codec.cpp %D%/codec.hpp \
	%D%/fault_class.cpp %D%/fault_class.hpp \
	%D%/job_lines.cpp %D%/job_lines.hpp \
	%D%/operator.cpp %D%/operator.hpp \
	%D%/pace.cpp %D%/pace.hpp %D%/pace_fields.hpp \
	%D%/plan.cpp %D%/plan.hpp %D%/plan_fields.hpp \
	%D%/rates.cpp %D%/rates.hpp %D%/rates_fields.hpp \
	%D%/report.cpp %D%/report.hpp %D%/report_fields.hpp \
	%D%/return_status.hpp \
	%D%/signals.cpp %D%/signals.hpp %D%/signals_show.cpp \
	%D%/status.cpp %D%/status.hpp %D%/status_fields.hpp \
	%D%/text_times.hpp \
	%D%/version.hpp
wire_libs = libry_wire.la $(base_libs)

# HTTP and MUNGE.
libry_http_la_SOURCES = \
	%D%/channel.cpp %D%/channel.hpp \
	%D%/delivery.cpp %D%/delivery.hpp \
	%D%/http.cpp %D%/http.hpp \
	%D%/http_client.cpp %D%/http_client.hpp \
	%D%/http_server.cpp %D%/http_server.hpp \
	%D%/munge_auth.cpp %D%/munge_auth.hpp \
	%D%/slurm_user.cpp %D%/slurm_user.hpp
libry_http_la_CPPFLAGS = $(AM_CPPFLAGS) $(CRYPTO_CFLAGS)
libry_http_la_LIBADD = $(MUNGE_LIBS) $(CRYPTO_LIBS) -lpthread
http_libs = libry_http.la $(wire_libs)
