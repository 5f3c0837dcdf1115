tests_unit_unit_sched_SOURCES += %D%/advisor_test.cpp %D%/attempts_test.cpp %D%/placement_site.hpp
