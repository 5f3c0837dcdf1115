# Programs that run as jobs in the system tests and the quickstart.
if MPI
noinst_PROGRAMS += tests/apps/heat2d
tests_apps_heat2d_SOURCES = %D%/heat2d.cpp
tests_apps_heat2d_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS) $(XXHASH_CFLAGS) -DOMPI_SKIP_MPICXX
tests_apps_heat2d_CXXFLAGS = $(AM_CXXFLAGS) -ffp-contract=off
tests_apps_heat2d_LDADD = librailckpt.la $(MPI_LIBS) $(XXHASH_LIBS)
# A real executable, not libtool's wrapper: launchers start it on other hosts.
tests_apps_heat2d_LDFLAGS = -no-install
endif

TESTS += %D%/heat2d_restart
EXTRA_DIST += %D%/heat2d_restart
