tests_unit_unit_wire_SOURCES = \
	%D%/auth_test.cpp \
	%D%/channel_test.cpp \
	%D%/http_test.cpp \
	%D%/private_munged.cpp %D%/private_munged.hpp \
	%D%/report_test.cpp \
	%D%/signals_test.cpp \
	%D%/slurm_user_test.cpp
tests_unit_unit_wire_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_wire_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_wire_LDADD = libry_unit.la $(http_libs)
