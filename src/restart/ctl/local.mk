# restart/railctl: railctl, which asks restartd and shows its answers.
noinst_LTLIBRARIES += libry_railctl.la
libry_railctl_la_SOURCES = %D%/show.cpp %D%/show.hpp
libry_railctl_la_LIBADD = libry_explain.la libry_base.la
bin_PROGRAMS += railctl
railctl_SOURCES = %D%/railctl.cpp
railctl_LDADD = libry_railctl.la libry_http.la libry_cli.la
