# restart/core: the pure centre that decides; no I/O, no clock, no Slurm.
noinst_LTLIBRARIES += libry_restart_core.la
libry_restart_core_la_SOURCES = \
	%D%/action.cpp %D%/action.hpp \
	%D%/bounds.cpp \
	%D%/culprit.cpp \
	%D%/event.hpp \
	%D%/exclusions.cpp \
	%D%/facts.cpp \
	%D%/file_doubt.cpp %D%/file_doubt.hpp \
	%D%/findings.cpp \
	%D%/health.cpp %D%/health.hpp \
	%D%/incident.hpp \
	%D%/intents.cpp \
	%D%/jobs.cpp \
	%D%/names.hpp \
	%D%/node_loss.cpp \
	%D%/note.hpp \
	%D%/operator.cpp \
	%D%/policy.cpp %D%/policy.hpp \
	%D%/recovery.cpp \
	%D%/rm_config.cpp %D%/rm_config.hpp \
	%D%/rm_queue.hpp \
	%D%/rm_snapshot.hpp \
	%D%/state.cpp %D%/state.hpp %D%/state_fields.hpp \
	%D%/state_1.cpp %D%/state_1.hpp \
	%D%/state_rows.cpp %D%/state_rows.hpp \
	%D%/step.cpp %D%/step.hpp \
	%D%/turn.hpp \
	%D%/witnesses.cpp %D%/witnesses.hpp
libry_restart_core_la_LIBADD = libry_wire.la libry_interval.la
