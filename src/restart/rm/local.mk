# restart/rm: the resource manager's seam. slurm_* files alone see Slurm's headers.
noinst_LTLIBRARIES += libry_rm.la
libry_rm_la_SOURCES = \
	%D%/rm.hpp \
	%D%/slurm_queue.cpp %D%/slurm_queue.hpp \
	%D%/slurm_reading.cpp %D%/slurm_reading.hpp \
	%D%/slurm_rm.cpp %D%/slurm_rm.hpp
libry_rm_la_LIBADD = $(SLURM_LIBS)
