tests_unit_unit_probe_SOURCES = \
	%D%/hardware.hpp \
	%D%/kernel_lines_test.cpp \
	%D%/kmsg_log_test.cpp \
	%D%/nccl_ras_test.cpp \
	%D%/nvml_gpus_test.cpp \
	%D%/own_addresses_test.cpp \
	%D%/proc_host_test.cpp \
	%D%/ras_double.hpp \
	%D%/sysfs_ib_test.cpp \
	%D%/tcp_listener_test.cpp \
	%D%/ucx_statistics_test.cpp
tests_unit_unit_probe_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_probe_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_probe_LDADD = libry_unit.la $(probe_libs)
EXTRA_tests_unit_unit_probe_DEPENDENCIES = tests/doubles/libnvidia-ml.so.1
