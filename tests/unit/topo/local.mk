tests_unit_unit_topo_SOURCES = \
	%D%/fabrics.hpp \
	%D%/shuffle.hpp \
	%D%/assemble_test.cpp \
	%D%/carry_over_test.cpp \
	%D%/check_siblings_test.cpp \
	%D%/check_test.cpp \
	%D%/derive_test.cpp \
	%D%/diff_test.cpp \
	%D%/distance_test.cpp %D%/excerpt_test.cpp \
	%D%/export_test.cpp \
	%D%/fabric_json_test.cpp \
	%D%/ibnetdiscover_test.cpp \
	%D%/ibsim_net_test.cpp \
	%D%/kernel_hcas_test.cpp \
	%D%/layout_test.cpp \
	%D%/overlay_test.cpp \
	%D%/rate_test.cpp \
	%D%/shapes_test.cpp \
	%D%/show_test.cpp \
	%D%/svg_test.cpp \
	%D%/synth_test.cpp
tests_unit_unit_topo_SOURCES += \
	%D%/gather_test.cpp \
	%D%/host_facts_test.cpp \
	%D%/rules_test.cpp \
	%D%/source_test.cpp
tests_unit_unit_topo_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_topo_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_topo_LDADD = libry_unit.la libry_status_overlay.la libry_source.la libry_topo.la
