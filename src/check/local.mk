# check: railcheck, which checks a host, and the rules that watch it.
noinst_LTLIBRARIES += libry_check.la
libry_check_la_SOURCES = \
	%D%/apart.cpp %D%/apart.hpp \
	%D%/bed.cpp %D%/bed.hpp \
	%D%/check.hpp %D%/checks.cpp \
	%D%/check_trials.cpp %D%/check_trials.hpp \
	%D%/check_command.cpp %D%/check_command.hpp \
	%D%/cuda_abi.h %D%/cuda_blas_abi.h \
	%D%/cuda_blas.cpp %D%/cuda_blas.hpp \
	%D%/cuda_check.cpp %D%/cuda_check.hpp \
	%D%/cuda_gemm.cpp %D%/cuda_gemm.hpp \
	%D%/cuda_gpu.cpp %D%/cuda_gpu.hpp \
	%D%/cuda_hbm.cpp %D%/cuda_hbm.hpp \
	%D%/cuda_kernel_abi.h %D%/cuda_kernel_words.h \
	%D%/cuda_library.cpp %D%/cuda_library.hpp \
	%D%/cuda_nvlink.cpp %D%/cuda_nvlink.hpp \
	%D%/cuda_pcie.cpp %D%/cuda_pcie.hpp \
	%D%/disk.cpp %D%/disk.hpp \
	%D%/fabric_bed.cpp %D%/fabric_bed.hpp \
	%D%/fabric_ports.cpp %D%/fabric_ports.hpp \
	%D%/gang_report.cpp %D%/gang_report.hpp \
	%D%/gang_search.cpp %D%/gang_search.hpp \
	%D%/gpu.cpp %D%/gpu.hpp \
	%D%/hca.cpp %D%/hca.hpp \
	%D%/mad_ibsim.cpp %D%/mad_ibsim.hpp \
	%D%/parts.cpp %D%/parts.hpp \
	%D%/result.cpp %D%/result.hpp \
	%D%/selftest.cpp %D%/selftest.hpp \
	%D%/stage.cpp %D%/stage.hpp \
	%D%/thread_gang.cpp %D%/thread_gang.hpp \
	%D%/words.cpp %D%/words.hpp
EXTRA_DIST += %D%/cuda_kernels.cu
libry_check_la_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
libry_check_la_LIBADD = $(IBMAD_LIBS)
check_libs = libry_check.la $(check_ibv_libs) $(check_net_libs) libry_cuda_ptx.la $(mad_notices_libs) $(mad_discover_libs)

# The kernels as PTX in a header; empty if configure found no compiler for them. In addition the output of ptxas, if
# configure found one.
noinst_LTLIBRARIES += libry_cuda_ptx.la
libry_cuda_ptx_la_SOURCES = %D%/cuda_ptx.cpp
cuda_kernel_files = %D%/cuda_kernels.cu %D%/cuda_kernel_abi.h %D%/cuda_kernel_words.h
%D%/cuda_ptx.h: $(cuda_kernel_files) Makefile
	$(AM_V_at)$(MKDIR_P) %D%; : >$@.ptx
	$(AM_V_GEN)test -z "$(PTX_COMPILER)" || $(PTX_COMPILER) -I$(top_srcdir)/src -o $@.ptx $(srcdir)/%D%/cuda_kernels.cu
	$(AM_V_at){ printf 'constexpr char railyard_cuda_ptx[] = R"ptx('; cat $@.ptx; echo ')ptx";'; } >$@.tmp
	$(AM_V_at)for gpu in $(CUBIN_GPUS); do \
	    $(PTXAS) -arch=sm_$$gpu $@.ptx -o $@.cubin && \
	    { echo "alignas(16) constexpr unsigned char railyard_cubin_$$gpu[] = {"; od -An -v -tx1 $@.cubin | sed 's/ \(..\)/0x\1,/g'; echo '};'; } >>$@.tmp || exit 1; \
	done
	$(AM_V_at){ echo '#define RAILYARD_CUBINS(X) \'; for gpu in $(CUBIN_GPUS); do echo "X($$gpu) \\"; done; echo; } >>$@.tmp
	$(AM_V_at)rm -f $@.ptx $@.cubin; if cmp -s $@.tmp $@; then rm $@.tmp; touch $@; else mv $@.tmp $@; fi
%D%/cuda_ptx.lo: %D%/cuda_ptx.h
CLEANFILES += %D%/cuda_ptx.h

sbin_PROGRAMS += railcheck
railcheck_SOURCES = \
	%D%/gang_trials.cpp %D%/gang_trials.hpp \
	%D%/mailbox.hpp \
	%D%/net_trials.cpp %D%/net_trials.hpp \
	%D%/preflight_command.cpp %D%/preflight_command.hpp \
	%D%/railcheck.cpp \
	%D%/selftest_command.cpp %D%/selftest_command.hpp
railcheck_LDADD = $(check_mpi_libs) $(CUDA_LIBS)
