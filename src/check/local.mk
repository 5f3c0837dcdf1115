# check: railcheck, which tries a host, and the rules it is watched by.
noinst_LTLIBRARIES += libry_check.la
libry_check_la_SOURCES = \
	%D%/bed.cpp %D%/bed.hpp \
	%D%/selftest.cpp %D%/selftest.hpp \
	%D%/stage.cpp %D%/stage.hpp
libry_check_la_LIBADD = libry_watch.la libry_base.la

sbin_PROGRAMS += railcheck
railcheck_SOURCES = %D%/railcheck.cpp
railcheck_LDADD = libry_check.la libry_watch.la libry_cli.la
