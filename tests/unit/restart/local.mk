unit_sources += %D%/report_test.cpp
unit_libs += libry_restart_core.la
unit_sources += \
	%D%/auth_test.cpp \
	%D%/folder.hpp \
	%D%/http_test.cpp \
	%D%/private_munged.cpp %D%/private_munged.hpp
unit_libs += libry_http.la
