# librailucx.so, which jobs preload: C, so that it brings no C++ runtime into their processes. What does not
# wrap libucp is in a separate library, which the unit tests link.
noinst_LTLIBRARIES += libry_ucx.la
libry_ucx_la_SOURCES = \
	%D%/ucx_ranks.c %D%/ucx_ranks.h \
	%D%/ucx_resends.c %D%/ucx_resends.h \
	%D%/ucx_teller.c %D%/ucx_teller.h \
	%D%/ucx_view.c %D%/ucx_view.h

pkglib_LTLIBRARIES += librailucx.la
librailucx_la_SOURCES = %D%/railucx.c
librailucx_la_LDFLAGS = -module -avoid-version -shared -no-undefined -Wl,--version-script=$(srcdir)/%D%/librailucx.map
librailucx_la_LIBADD = libry_ucx.la -lpthread -ldl
EXTRA_librailucx_la_DEPENDENCIES = $(srcdir)/%D%/librailucx.map
EXTRA_DIST += %D%/librailucx.map
