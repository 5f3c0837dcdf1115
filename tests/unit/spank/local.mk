tests_unit_unit_spank_SOURCES = \
	%D%/machines.hpp \
	%D%/binding_test.cpp \
	%D%/environment_test.cpp \
	%D%/options_test.cpp \
	%D%/preload_test.cpp \
	%D%/rank_lists_test.cpp \
	%D%/statistics_test.cpp \
	%D%/step_layout_test.cpp
tests_unit_unit_spank_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_spank_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_spank_LDADD = libry_unit.la $(spank_libs)
