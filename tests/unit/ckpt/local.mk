unit_sources += %D%/interval_test.cpp %D%/manifest_test.cpp %D%/fence_test.cpp %D%/schedule_test.cpp \
	%D%/session_test.cpp %D%/folder.hpp
unit_libs += libry_ckpt.la
