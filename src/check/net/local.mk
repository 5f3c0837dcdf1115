# The network between hosts: which hosts measure together and what is slow (pure), and the measurements.
noinst_LTLIBRARIES += libry_check_net.la libry_check_gather.la
libry_check_net_la_SOURCES = \
	%D%/culprits.cpp %D%/culprits.hpp \
	%D%/fit.cpp %D%/fit.hpp \
	%D%/launch.cpp %D%/launch.hpp \
	%D%/pair.hpp \
	%D%/tournament.cpp %D%/tournament.hpp
check_net_libs = libry_check_net.la $(base_libs)
# libibverbs is found at run time; only its header is needed here.
noinst_LTLIBRARIES += libry_check_ibv.la
libry_check_ibv_la_SOURCES = \
	%D%/ibv_calls.hpp \
	%D%/ibv_ports.cpp %D%/ibv_ports.hpp \
	%D%/ibv_rail.cpp %D%/ibv_rail.hpp
check_ibv_libs = libry_check_ibv.la $(base_libs)
libry_check_gather_la_SOURCES = \
	%D%/devices.cpp %D%/devices.hpp \
	%D%/entry.cpp %D%/entry.hpp \
	%D%/gathering.cpp %D%/gathering.hpp \
	%D%/link.cpp %D%/link.hpp \
	%D%/message.cpp %D%/message.hpp \
	%D%/net_command.cpp %D%/net_command.hpp \
	%D%/picture.cpp %D%/picture.hpp \
	%D%/print.cpp %D%/print.hpp \
	%D%/ucx_rail.cpp %D%/ucx_rail.hpp \
	%D%/verdict.cpp %D%/verdict.hpp
libry_check_gather_la_CPPFLAGS = $(AM_CPPFLAGS) $(UCX_CFLAGS)
libry_check_gather_la_LIBADD = $(UCX_LIBS)
check_gather_libs = libry_check_gather.la $(check_libs) $(http_libs) $(topo_libs) $(cli_libs)
