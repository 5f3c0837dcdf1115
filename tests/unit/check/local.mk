tests_unit_unit_check_SOURCES = \
	%D%/apart_test.cpp \
	%D%/disk_test.cpp \
	%D%/gang_search_test.cpp \
	%D%/gpu_test.cpp \
	%D%/mpi_abi_test.cpp \
	%D%/mpi_test.cpp \
	%D%/recorded_test.cpp \
	%D%/result_test.cpp
tests_unit_unit_check_CPPFLAGS = $(unit_cppflags) $(MPI_CPPFLAGS)
tests_unit_unit_check_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_check_LDADD = libry_unit.la $(check_mpi_libs)

TESTS += %D%/railcheck_test.py %D%/checks_test.py %D%/verbs_test.py
EXTRA_DIST += %D%/railcheck_test.py %D%/checks_test.py %D%/verbs_test.py
