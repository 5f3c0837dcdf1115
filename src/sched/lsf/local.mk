# sched/lsf: what LSF's daemons and commands run.
noinst_LTLIBRARIES += libry_lsf.la
libry_lsf_la_SOURCES = \
	%D%/bsub.cpp %D%/bsub.hpp \
	%D%/elim_line.cpp %D%/elim_line.hpp \
	%D%/job_line.cpp %D%/job_line.hpp \
	%D%/metrics_socket.cpp %D%/metrics_socket.hpp \
	%D%/parameters.cpp %D%/parameters.hpp \
	%D%/program_path.cpp %D%/program_path.hpp
lsf_libs = libry_lsf.la $(sched_libs)

pkglibexec_PROGRAMS += elim.rail esub.rail
elim_rail_SOURCES = %D%/elim.cpp
elim_rail_LDADD = $(lsf_libs) $(cli_libs)
esub_rail_SOURCES = %D%/esub.cpp
esub_rail_LDADD = $(lsf_libs) $(cli_libs)

# The dispatcher: the queue that LSF does not keep for gangs. Pure.
noinst_LTLIBRARIES += libry_dispatch.la
libry_dispatch_la_SOURCES = \
	%D%/asked.hpp \
	%D%/dispatch.cpp %D%/dispatch.hpp \
	%D%/fairshare.cpp %D%/fairshare.hpp \
	%D%/timeline.cpp %D%/timeline.hpp \
	%D%/why.cpp
dispatch_libs = libry_dispatch.la $(sched_libs)
