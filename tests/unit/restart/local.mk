unit_sources += \
	%D%/node_loss_test.cpp \
	%D%/report_test.cpp \
	%D%/slurm_reading_test.cpp \
	%D%/world.cpp %D%/world.hpp
unit_libs += libry_restart_core.la libry_rm.la
