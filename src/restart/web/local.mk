# restart/web: the web page that restartd serves.
noinst_LTLIBRARIES += libry_web.la
libry_web_la_SOURCES = \
	%D%/fabric_map.cpp %D%/fabric_map.hpp \
	%D%/page_files.cpp %D%/page_files.hpp
web_libs = libry_web.la $(topo_libs)

# What a browser loads, as it stands: no build, no other host.
pagedir = $(pkgdatadir)/web
dist_page_DATA = \
	%D%/page/app.js \
	%D%/page/dom.js \
	%D%/page/fabric.js \
	%D%/page/hosts.js \
	%D%/page/incidents.js \
	%D%/page/index.html \
	%D%/page/jobs.js \
	%D%/page/picture.js \
	%D%/page/rates.js \
	%D%/page/style.css \
	%D%/page/text.js
