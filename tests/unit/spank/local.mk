unit_sources += \
	%D%/machines.hpp \
	%D%/binding_test.cpp \
	%D%/environment_test.cpp \
	%D%/options_test.cpp \
	%D%/rank_lists_test.cpp \
	%D%/step_layout_test.cpp
unit_libs += libry_spank.la
