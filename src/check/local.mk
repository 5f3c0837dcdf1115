# check: railcheck, which tries a host, and the rules it is watched by.
noinst_LTLIBRARIES += libry_check.la
libry_check_la_SOURCES = \
	%D%/apart.cpp %D%/apart.hpp \
	%D%/bed.cpp %D%/bed.hpp \
	%D%/check.hpp %D%/checks.cpp \
	%D%/check_command.cpp %D%/check_command.hpp \
	%D%/cuda_abi.h \
	%D%/cuda_gpu.cpp %D%/cuda_gpu.hpp \
	%D%/cuda_library.cpp %D%/cuda_library.hpp \
	%D%/disk.cpp %D%/disk.hpp \
	%D%/fabric_bed.cpp %D%/fabric_bed.hpp \
	%D%/fabric_ports.cpp %D%/fabric_ports.hpp \
	%D%/gpu.cpp %D%/gpu.hpp \
	%D%/mad_ibsim.cpp %D%/mad_ibsim.hpp \
	%D%/parts.cpp %D%/parts.hpp \
	%D%/result.cpp %D%/result.hpp \
	%D%/selftest.cpp %D%/selftest.hpp \
	%D%/selftest_command.cpp %D%/selftest_command.hpp \
	%D%/stage.cpp %D%/stage.hpp \
	%D%/words.cpp %D%/words.hpp
libry_check_la_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
libry_check_la_LIBADD = $(IBMAD_LIBS)
check_libs = libry_check.la $(mad_notices_libs) $(mad_discover_libs)

sbin_PROGRAMS += railcheck
railcheck_SOURCES = %D%/railcheck.cpp
railcheck_LDADD = $(check_libs) $(cli_libs)
