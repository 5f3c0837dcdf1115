tests_unit_unit_topo_SOURCES = \
	%D%/fabrics.hpp \
	%D%/shuffle.hpp \
	%D%/read/assemble_test.cpp \
	%D%/read/carry_over_test.cpp \
	%D%/check/against_plan_test.cpp \
	%D%/check/gone_test.cpp \
	%D%/check/siblings_test.cpp \
	%D%/check/odd_names_test.cpp \
	%D%/check/order_test.cpp \
	%D%/check/places_test.cpp \
	%D%/check/switches_test.cpp \
	%D%/check/storage_test.cpp \
	%D%/check/check_test.cpp \
	%D%/derive_leaves_test.cpp \
	%D%/derive_pods_test.cpp \
	%D%/derive_test.cpp \
	%D%/diff/diff_test.cpp \
	%D%/diff/names_test.cpp \
	%D%/excerpt_test.cpp \
	%D%/export/export_test.cpp \
	%D%/export/tree_test.cpp \
	%D%/fabric_json_test.cpp \
	%D%/read/ibnetdiscover_test.cpp \
	%D%/synth/ibsim_net_test.cpp \
	%D%/host/kernel_hcas_test.cpp \
	%D%/draw/layout_test.cpp \
	%D%/draw/overlay_test.cpp \
	%D%/rate_test.cpp \
	%D%/shapes_test.cpp \
	%D%/draw/show_test.cpp \
	%D%/read/slurm_states_test.cpp \
	%D%/draw/svg_test.cpp \
	%D%/synth/synth_test.cpp
tests_unit_unit_topo_SOURCES += \
	%D%/host/gather_test.cpp \
	%D%/host/host_facts_test.cpp \
	%D%/read/blocks_test.cpp \
	%D%/read/rules_test.cpp \
	%D%/read/source_test.cpp \
	%D%/read/tools_test.cpp
tests_unit_unit_topo_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_topo_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_topo_LDADD = libry_unit.la $(status_overlay_libs) $(source_libs)
TESTS += %D%/tool/completion_test.py
EXTRA_DIST += %D%/tool/completion_test.py
