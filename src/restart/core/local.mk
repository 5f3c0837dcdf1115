# restart/core: the pure centre that decides; no I/O, no clock, no Slurm.
noinst_LTLIBRARIES += libry_restart_core.la
libry_restart_core_la_SOURCES = \
	%D%/codec.hpp \
	%D%/report.cpp %D%/report.hpp %D%/report_fields.hpp
libry_restart_core_la_LIBADD = libry_base.la
