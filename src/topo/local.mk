# topo: the fabric, where it comes from, what follows from it, and how it is shown.
noinst_LTLIBRARIES += libry_topo.la
libry_topo_la_SOURCES = \
	%D%/assemble.cpp %D%/assemble.hpp \
	%D%/check.cpp %D%/check.hpp %D%/check_parts.hpp \
	%D%/check_fabric.cpp \
	%D%/check_hosts.cpp \
	%D%/check_links.cpp \
	%D%/check_names.cpp \
	%D%/check_uplinks.cpp \
	%D%/derive.cpp %D%/derive.hpp \
	%D%/fabric.cpp %D%/fabric.hpp \
	%D%/fabric_json.cpp %D%/fabric_json.hpp \
	%D%/guid.hpp \
	%D%/ibnetdiscover.cpp %D%/ibnetdiscover.hpp \
	%D%/ibsim_net.cpp %D%/ibsim_net.hpp \
	%D%/loss.cpp %D%/loss.hpp \
	%D%/names.cpp %D%/names.hpp \
	%D%/order.cpp %D%/order.hpp \
	%D%/plant.cpp %D%/plant.hpp \
	%D%/rate.cpp %D%/rate.hpp \
	%D%/raw_fabric.hpp \
	%D%/roles.cpp %D%/roles.hpp \
	%D%/show.cpp %D%/show.hpp \
	%D%/synth.cpp %D%/synth.hpp
libry_topo_la_LIBADD = libry_base.la

# Apart, so that only programs that talk to the fabric need its libraries.
noinst_LTLIBRARIES += libry_mad_discover.la
libry_mad_discover_la_SOURCES = %D%/mad_discover.cpp %D%/mad_discover.hpp
libry_mad_discover_la_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
libry_mad_discover_la_LIBADD = libry_topo.la $(IBMAD_LIBS)

bin_PROGRAMS += railtopo
railtopo_SOURCES = %D%/railtopo.cpp
railtopo_LDADD = libry_mad_discover.la libry_topo.la libry_cli.la
