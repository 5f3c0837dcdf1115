# Doubles of hardware this machine does not have, each with the test that compares it with a real counterpart.
noinst_DATA += %D%/libnvidia-ml.so.1
CLEANFILES += %D%/libnvidia-ml.so.1
%D%/libnvidia-ml.so.1: $(srcdir)/%D%/nvml_double.c $(srcdir)/%D%/nvml_costs.h $(srcdir)/%D%/nvml_work.h $(top_srcdir)/src/probe/nvml_abi.h
	$(AM_V_at)$(MKDIR_P) %D%
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) -I$(top_srcdir)/src $(CFLAGS) -fPIC -shared -Wl,-soname,libnvidia-ml.so.1 \
		-o $@ $(srcdir)/%D%/nvml_double.c -lpthread

# CUDA's driver and cuBLAS, whose kernels are railcheck's own, run on the CPU.
cuda_doubles = %D%/libcuda.so.1 %D%/libcublas.so.12 %D%/libcublasLt.so.12 %D%/libnccl.so.2
noinst_DATA += $(cuda_doubles)
CLEANFILES += $(cuda_doubles)
cuda_double_headers = $(srcdir)/%D%/cuda_double.hpp $(top_srcdir)/src/check/cuda_abi.h $(top_srcdir)/src/check/cuda_blas_abi.h
build_cuda_double = $(AM_V_CXXLD)$(CXX) $(OPT_CXXFLAGS) -Wall -Wextra -I$(top_srcdir)/src -I$(top_srcdir)/tests $(CXXFLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@
%D%/libcuda.so.1: $(srcdir)/%D%/cuda_double.cpp $(cuda_double_headers) $(addprefix $(top_srcdir)/,$(cuda_kernel_files))
	$(AM_V_at)$(MKDIR_P) %D%
	$(build_cuda_double) $(srcdir)/%D%/cuda_double.cpp
%D%/libcublas.so.12: $(srcdir)/%D%/cublas_double.cpp $(cuda_double_headers)
	$(AM_V_at)$(MKDIR_P) %D%
	$(build_cuda_double) $(srcdir)/%D%/cublas_double.cpp
%D%/libcublasLt.so.12: %D%/libcublas.so.12
	$(AM_V_GEN)cp %D%/libcublas.so.12 $@

%D%/libnccl.so.2: $(srcdir)/%D%/nccl_double.cpp $(top_srcdir)/src/check/mpi/nccl_abi.h
	$(AM_V_at)$(MKDIR_P) %D%
	$(build_cuda_double) $(srcdir)/%D%/nccl_double.cpp -lpthread

# HCAs, if libibverbs' header is installed.
if VERBS
noinst_DATA += %D%/libibverbs.so.1
CLEANFILES += %D%/libibverbs.so.1
endif
%D%/libibverbs.so.1: $(srcdir)/%D%/ibverbs_double.cpp
	$(AM_V_at)$(MKDIR_P) %D%
	$(build_cuda_double) $(srcdir)/%D%/ibverbs_double.cpp

# A clock that steps while a daemon runs.
noinst_DATA += %D%/libclock_step.so
CLEANFILES += %D%/libclock_step.so
%D%/libclock_step.so: $(srcdir)/%D%/clock_step.c
	$(AM_V_at)$(MKDIR_P) %D%
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared -o $@ $(srcdir)/%D%/clock_step.c

TESTS += %D%/cuda_abi_test.py %D%/sysfs_test.py %D%/nvml_double_test.py %D%/host_test.py %D%/lsf_double_test.py %D%/lsf_serve_test.py
EXTRA_DIST += %D%/cublas_double.cpp %D%/abi_same.hpp %D%/cuda_abi_check.cpp %D%/cuda_abi_test.py %D%/nccl_abi_check.cpp %D%/cuda_double.cpp %D%/cuda_double.hpp
EXTRA_DIST += %D%/clock_step.c %D%/ibverbs_double.cpp %D%/nccl_double.cpp %D%/nvml_double.c %D%/nvml_costs.h %D%/nvml_work.h %D%/nvml_abi_check.c %D%/gen_sysfs.py %D%/gen_host.py %D%/host_test.py %D%/sysfs_test.py %D%/nvml_double_test.py

# The double of an LSF-compatible engine, standard library only, run in place.
EXTRA_DIST += %D%/lsf/lsf_double %D%/lsf/admin.py %D%/lsf/client.py %D%/lsf/commands.py \
	%D%/lsf/configuration.py %D%/lsf/control.py \
	%D%/lsf/dispatch.py %D%/lsf/esub.py %D%/lsf/loss.py %D%/lsf/model.py %D%/lsf/pretend.py %D%/lsf/processes.py \
	%D%/lsf/replay.py %D%/lsf/resreq.py %D%/lsf/scenarios.py %D%/lsf_double_test.py %D%/lsf_serve_test.py \
	%D%/lsf/server.py %D%/lsf/show_hist.py %D%/lsf/show_hosts.py %D%/lsf/show_info.py %D%/lsf/show_jobs.py \
	%D%/lsf/show_shares.py \
	%D%/lsf/state.py %D%/lsf/submission.py %D%/lsf/usage.py
# Measured transcripts of the engine; the double is compared with almost 600 of their commands.
EXTRA_DIST += %D%/lsf/recorded/README %D%/lsf/recorded/badmin.txt %D%/lsf/recorded/bjobs.txt \
	%D%/lsf/recorded/bmod_bstop_bresume_bswitch.txt %D%/lsf/recorded/brequeue.txt \
	%D%/lsf/recorded/brequeue_more.txt %D%/lsf/recorded/bsub.txt %D%/lsf/recorded/bsub_esub.txt \
	%D%/lsf/recorded/cable_cut_duplicate.txt %D%/lsf/recorded/elim_health.txt %D%/lsf/recorded/esub_master.txt \
	%D%/lsf/recorded/hold_designs.txt %D%/lsf/recorded/host_loss.txt %D%/lsf/recorded/host_loss_brequeue_early.txt \
	%D%/lsf/recorded/host_loss_poke.txt %D%/lsf/recorded/hosts_and_load.txt %D%/lsf/recorded/job_starter_more.txt \
	%D%/lsf/recorded/left_out.json %D%/lsf/recorded/mandatory_esub.txt %D%/lsf/recorded/multihost_start.txt \
	%D%/lsf/recorded/parking_queue_design.txt %D%/lsf/recorded/parking_queue_more.txt \
	%D%/lsf/recorded/queue_hooks.txt
