# restart/run: railrun, which starts a step again inside its job's allocation.
noinst_LTLIBRARIES += libry_run.la
libry_run_la_SOURCES = \
	%D%/checkpoints.cpp %D%/checkpoints.hpp \
	%D%/command.cpp %D%/command.hpp \
	%D%/course.cpp %D%/course.hpp \
	%D%/options.cpp %D%/options.hpp \
	%D%/process.cpp %D%/process.hpp \
	%D%/seats.cpp %D%/seats.hpp \
	%D%/slurm_job.cpp %D%/slurm_job.hpp \
	%D%/warm.cpp %D%/warm.hpp
libry_run_la_LIBADD = libry_ckpt.la libry_spank.la
bin_PROGRAMS += railrun
railrun_SOURCES = %D%/railrun.cpp
railrun_LDADD = libry_run.la libry_cli.la
