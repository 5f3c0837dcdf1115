unit_sources += %D%/report_test.cpp %D%/node_loss_test.cpp %D%/world.cpp %D%/world.hpp
unit_libs += libry_restart_core.la
