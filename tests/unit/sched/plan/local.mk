unit_sources += %D%/batch_test.cpp %D%/exhaustive_test.cpp
unit_libs += libry_plan.la
