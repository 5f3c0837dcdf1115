# The checkpoint contract: librailckpt and railckpt. The interval is its own library, so that librailckpt
# contains nothing else of the restart daemon.
noinst_LTLIBRARIES += libry_interval.la libry_ckpt.la libry_kinds.la
libry_interval_la_SOURCES = %D%/interval.cpp %D%/interval.hpp

libry_ckpt_la_SOURCES = \
	%D%/agent.cpp %D%/agent.hpp \
	%D%/bjobs.cpp %D%/bjobs.hpp \
	%D%/c_api.cpp %D%/railckpt.h \
	%D%/digest.cpp %D%/digest.hpp \
	%D%/fence.cpp %D%/fence.hpp \
	%D%/import.cpp %D%/import.hpp \
	%D%/lock.cpp %D%/lock.hpp \
	%D%/manifest.cpp %D%/manifest.hpp \
	%D%/marks.cpp %D%/marks.hpp \
	%D%/name.cpp %D%/name.hpp \
	%D%/options.cpp %D%/options.hpp \
	%D%/prune.cpp %D%/prune.hpp \
	%D%/published.cpp %D%/published.hpp \
	%D%/safe_open.cpp %D%/safe_open.hpp \
	%D%/schedule.cpp %D%/schedule.hpp \
	%D%/session.cpp %D%/session.hpp \
	%D%/squeue.cpp %D%/squeue.hpp \
	%D%/stage.cpp %D%/stage.hpp \
	%D%/work.cpp %D%/work.hpp
# The checkpoints that other programs keep, and these programs' processes; the job's library does without.
libry_kinds_la_SOURCES = \
	%D%/asking.cpp %D%/asking.hpp \
	%D%/job_processes.cpp %D%/job_processes.hpp \
	%D%/kinds/dcp.cpp \
	%D%/kinds/deepspeed.cpp \
	%D%/kinds/files.cpp %D%/kinds/files.hpp \
	%D%/kinds/follow.cpp %D%/kinds/follow.hpp \
	%D%/kinds/glob.cpp \
	%D%/kinds/lightning.cpp \
	%D%/kinds/look.cpp %D%/kinds/look.hpp \
	%D%/kinds/megatron.cpp \
	%D%/kinds/nemo.cpp \
	%D%/kinds/orbax.cpp \
	%D%/kinds/rules.cpp %D%/kinds/rules.hpp
kinds_libs = libry_kinds.la
ckpt_libs = libry_ckpt.la libry_interval.la $(wire_libs)

# What a job links: it exports only railckpt_*.
lib_LTLIBRARIES += librailckpt.la
include_HEADERS += %D%/railckpt.h
EXTRA_DIST += %D%/librailckpt.map
dist_railpython_DATA = %D%/railckpt.py %D%/railmarks.py %D%/railsave.py %D%/railcallbacks.py
librailckpt_la_SOURCES =
nodist_EXTRA_librailckpt_la_SOURCES = force-c++-linking.cpp
librailckpt_la_LIBADD = $(ckpt_libs)
librailckpt_la_LDFLAGS = -version-info 0:0:0 -no-undefined -Wl,--version-script=$(srcdir)/%D%/librailckpt.map
EXTRA_librailckpt_la_DEPENDENCIES = $(srcdir)/%D%/librailckpt.map

bin_PROGRAMS += railckpt
railckpt_SOURCES = \
	%D%/changes.cpp %D%/changes.hpp \
	%D%/doctor.cpp %D%/doctor.hpp \
	%D%/foreign.cpp %D%/foreign.hpp \
	%D%/railckpt.cpp \
	%D%/watch.cpp
railckpt_LDADD = $(kinds_libs) $(ckpt_libs) $(cli_libs)
