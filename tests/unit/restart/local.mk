unit_sources += %D%/report_test.cpp %D%/node_loss_test.cpp %D%/world.cpp %D%/world.hpp
unit_libs += libry_restart_core.la

unit_sources += \
	%D%/auth_test.cpp \
	%D%/folder.hpp \
	%D%/http_test.cpp \
	%D%/journal_test.cpp \
	%D%/metrics_test.cpp \
	%D%/private_munged.cpp %D%/private_munged.hpp
unit_libs += libry_daemon.la libry_http.la
