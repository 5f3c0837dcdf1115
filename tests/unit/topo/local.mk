unit_sources += %D%/derive_test.cpp %D%/fabric_json_test.cpp %D%/rate_test.cpp %D%/show_test.cpp %D%/synth_test.cpp
unit_libs += libry_topo.la
