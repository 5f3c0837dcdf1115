tests_unit_unit_check_net_SOURCES = \
	%D%/culprits_test.cpp \
	%D%/gathering_test.cpp \
	%D%/launch_test.cpp \
	%D%/picture_test.cpp \
	%D%/tournament_test.cpp \
	tests/traces/rail_matrix.cpp tests/traces/rail_matrix.hpp
tests_unit_unit_check_net_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_check_net_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_check_net_LDADD = libry_unit.la $(check_gather_libs)
