# MPI's collective operations between hosts: which host or rail slows them. Open MPI is found at run time.
noinst_LTLIBRARIES += libry_check_mpi.la
libry_check_mpi_la_SOURCES = \
	%D%/collective.hpp \
	%D%/gang.cpp %D%/gang.hpp \
	%D%/mpi_abi.h \
	%D%/mpi_collective.cpp %D%/mpi_collective.hpp \
	%D%/mpi_command.cpp %D%/mpi_command.hpp \
	%D%/mpi_library.cpp %D%/mpi_library.hpp \
	%D%/nccl_abi.h \
	%D%/nccl_collective.cpp %D%/nccl_collective.hpp \
	%D%/seat.cpp %D%/seat.hpp \
	%D%/watch.cpp %D%/watch.hpp
check_mpi_libs = libry_check_mpi.la $(check_gather_libs)
