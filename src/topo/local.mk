# topo: the fabric, where it comes from, what follows from it, and how it is shown.
noinst_LTLIBRARIES += libry_topo.la
libry_topo_la_SOURCES = \
	%D%/derive.cpp %D%/derive.hpp \
	%D%/fabric.cpp %D%/fabric.hpp \
	%D%/fabric_json.cpp %D%/fabric_json.hpp \
	%D%/guid.hpp \
	%D%/order.cpp %D%/order.hpp \
	%D%/rate.cpp %D%/rate.hpp \
	%D%/show.cpp %D%/show.hpp \
	%D%/synth.cpp %D%/synth.hpp
libry_topo_la_LIBADD = libry_base.la

bin_PROGRAMS += railtopo
railtopo_SOURCES = %D%/railtopo.cpp
railtopo_LDADD = libry_topo.la libry_cli.la
