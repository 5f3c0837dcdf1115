# restart/lsf: programs that run in an LSF job.
noinst_LTLIBRARIES += libry_lsf_job.la
libry_lsf_job_la_SOURCES = \
	%D%/allocation.cpp %D%/allocation.hpp \
	%D%/job_environment.cpp %D%/job_environment.hpp \
	%D%/keeper.cpp %D%/keeper.hpp \
	%D%/shell.cpp %D%/shell.hpp \
	%D%/starts.cpp %D%/starts.hpp
lsf_job_libs = libry_lsf_job.la $(kinds_libs) $(lsf_libs) $(ckpt_libs) $(spank_libs)
bin_PROGRAMS += rail-lsf-run rail-lsf-rsh
rail_lsf_run_SOURCES = %D%/rail_lsf_run.cpp
rail_lsf_run_LDADD = $(lsf_job_libs) $(cli_libs)
rail_lsf_rsh_SOURCES = %D%/rail_lsf_rsh.cpp
rail_lsf_rsh_LDADD = $(lsf_libs) $(cli_libs)
