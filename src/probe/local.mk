# probe: what a host can be asked, each source behind a class that never fails and never judges. Vendor libraries are
# opened at run time.
noinst_LTLIBRARIES += libry_probe.la
libry_probe_la_SOURCES = \
	%D%/kernel_file.cpp %D%/kernel_file.hpp \
	%D%/kernel_lines.cpp %D%/kernel_lines.hpp \
	%D%/kmsg_log.cpp %D%/kmsg_log.hpp \
	%D%/nccl_ras.cpp %D%/nccl_ras.hpp \
	%D%/nvml_abi.h \
	%D%/nvml_asking.cpp \
	%D%/nvml_gpus.cpp %D%/nvml_gpus.hpp \
	%D%/nvml_library.hpp \
	%D%/own_addresses.cpp %D%/own_addresses.hpp \
	%D%/pci_tree.cpp %D%/pci_tree.hpp \
	%D%/proc_host.cpp %D%/proc_host.hpp \
	%D%/process_user.cpp %D%/process_user.hpp \
	%D%/sample.hpp \
	%D%/sysfs_ib.cpp %D%/sysfs_ib.hpp \
	%D%/tcp_listener.cpp %D%/tcp_listener.hpp \
	%D%/ucx_datagram_writer.cpp %D%/ucx_datagram_writer.hpp \
	%D%/ucx_statistics.cpp %D%/ucx_statistics.hpp
libry_probe_la_LIBADD = -ldl
probe_libs = libry_probe.la $(topo_libs)
