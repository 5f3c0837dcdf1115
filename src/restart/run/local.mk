# restart/run: railrun, which restarts a step inside its job's allocation.
noinst_LTLIBRARIES += libry_run.la
libry_run_la_SOURCES = \
	%D%/checkpoints.cpp %D%/checkpoints.hpp \
	%D%/command.cpp %D%/command.hpp \
	%D%/course.cpp %D%/course.hpp \
	%D%/left_over.cpp %D%/left_over.hpp \
	%D%/lsf_job.cpp %D%/lsf_job.hpp \
	%D%/nameless_file.hpp \
	%D%/options.cpp %D%/options.hpp \
	%D%/own_job.cpp %D%/own_job.hpp \
	%D%/preflight.cpp %D%/preflight.hpp \
	%D%/preflight_step.cpp %D%/preflight_step.hpp \
	%D%/process.cpp %D%/process.hpp \
	%D%/seats.cpp %D%/seats.hpp \
	%D%/slurm_job.cpp %D%/slurm_job.hpp \
	%D%/warm.cpp %D%/warm.hpp
run_libs = libry_run.la $(lsf_job_libs)
bin_PROGRAMS += railrun
railrun_SOURCES = %D%/railrun.cpp
railrun_LDADD = $(run_libs) $(cli_libs)
