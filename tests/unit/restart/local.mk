unit_sources += %D%/report_test.cpp
unit_libs += libry_restart_core.la
