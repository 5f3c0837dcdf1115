unit_sources += %D%/interval_test.cpp
unit_libs += libry_interval.la
