# The checkpoint contract: librailckpt and railckpt. The interval is its own library, so that librailckpt
# carries nothing else of the restart daemon's.
noinst_LTLIBRARIES += libry_interval.la
libry_interval_la_SOURCES = src/restart/core/interval.cpp src/restart/core/interval.hpp
libry_interval_la_LIBADD = libry_base.la
