unit_sources += %D%/attempts_test.cpp %D%/submission_test.cpp %D%/advisor_test.cpp
unit_libs += libry_advisor.la
