unit_sources += %D%/options_test.cpp
unit_libs += libry_spank.la
