# restart/rm: the resource manager's seam. slurm_* files alone see Slurm's headers.
noinst_LTLIBRARIES += libry_rm.la
libry_rm_la_SOURCES = \
	%D%/check_job.hpp \
	%D%/looked_up.hpp \
	%D%/lsf_checks.cpp %D%/lsf_checks.hpp \
	%D%/lsf_commands.cpp %D%/lsf_commands.hpp \
	%D%/lsf_jobs.cpp %D%/lsf_jobs.hpp \
	%D%/lsf_list.cpp %D%/lsf_list.hpp \
	%D%/lsf_nodes.cpp %D%/lsf_nodes.hpp \
	%D%/lsf_queues.cpp %D%/lsf_queues.hpp \
	%D%/lsf_rm.cpp %D%/lsf_rm.hpp \
	%D%/lsf_shares.cpp %D%/lsf_shares.hpp \
	%D%/lsf_text.cpp %D%/lsf_text.hpp \
	%D%/lsf_words.hpp \
	%D%/rm.hpp \
	%D%/slurm_calls.cpp %D%/slurm_calls.hpp \
	%D%/slurm_checks.cpp %D%/slurm_checks.hpp \
	%D%/slurm_doors.cpp %D%/slurm_doors.hpp \
	%D%/slurm_ends.cpp %D%/slurm_ends.hpp \
	%D%/slurm_free.cpp %D%/slurm_free.hpp \
	%D%/slurm_kept.cpp %D%/slurm_kept.hpp \
	%D%/slurm_owned.hpp \
	%D%/slurm_queue.cpp %D%/slurm_queue.hpp \
	%D%/slurm_reading.cpp %D%/slurm_reading.hpp \
	%D%/slurm_waiting.cpp %D%/slurm_waiting.hpp \
	%D%/slurm_reboot.cpp %D%/slurm_reboot.hpp \
	%D%/slurm_record.hpp \
	%D%/slurm_requests.cpp %D%/slurm_requests.hpp \
	%D%/slurm_rm.cpp %D%/slurm_rm.hpp \
	%D%/slurm_submission.cpp %D%/slurm_submission.hpp \
	%D%/slurm_words.hpp
# libslurm is loaded when Slurm is the resource manager (slurm_calls.hpp).
libry_rm_la_CPPFLAGS = $(AM_CPPFLAGS) -DLIBSLURM='"$(LIBSLURM)"'

# The same for another release of Slurm, for the tests of its packages; not installed.
if SECOND_SLURM_SRC
check_LTLIBRARIES += libry_rm_second.la
libry_rm_second_la_SOURCES = $(libry_rm_la_SOURCES)
libry_rm_second_la_CPPFLAGS = $(AM_CPPFLAGS) $(SECOND_SLURM_SRC_PUBLIC_CPPFLAGS) -DLIBSLURM='"libslurm.so.$(SECOND_SLURM_SRC_API)"'
endif
