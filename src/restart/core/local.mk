# restart/core: the pure centre that decides; no I/O, no clock, no vendor's word.
noinst_LTLIBRARIES += libry_restart_core.la
libry_restart_core_la_SOURCES = \
	%D%/action.cpp %D%/action.hpp \
	%D%/bounds.cpp %D%/bounds.hpp \
	%D%/event.hpp %D%/event_fields.hpp \
	%D%/event_log.cpp %D%/event_log.hpp \
	%D%/fabric_facts.hpp \
	%D%/former_hosts.hpp \
	%D%/gang_fields.hpp \
	%D%/gang_plan.hpp \
	%D%/host_use.cpp %D%/host_use.hpp \
	%D%/incident.hpp \
	%D%/job_owner.hpp \
	%D%/kept_out.cpp %D%/kept_out.hpp \
	%D%/learned_fields.hpp \
	%D%/modes.cpp %D%/modes.hpp \
	%D%/names.hpp \
	%D%/note.hpp \
	%D%/peer_looks.hpp \
	%D%/policy.cpp %D%/policy.hpp \
	%D%/rights.cpp %D%/rights.hpp \
	%D%/rm_config.hpp \
	%D%/rm_queue.hpp \
	%D%/rm_fields.hpp %D%/rm_snapshot.hpp \
	%D%/rm_user.hpp \
	%D%/rm_words.hpp \
	%D%/state.cpp %D%/state.hpp \
	%D%/spread.hpp \
	%D%/state_1.cpp %D%/state_1.hpp \
	%D%/state_fields.hpp \
	%D%/state_rows.cpp %D%/state_rows.hpp \
	%D%/step.cpp %D%/step.hpp \
	%D%/step_context.cpp %D%/step_context.hpp \
	%D%/act/act.hpp \
	%D%/idle_check.hpp %D%/idle_check_fields.hpp \
	%D%/known_check.cpp %D%/known_check.hpp %D%/known_check_fields.hpp \
	%D%/kept_jobs.cpp %D%/kept_jobs.hpp \
	%D%/act/gangs.cpp \
	%D%/act/gate.cpp %D%/act/gate.hpp \
	%D%/act/intents.cpp \
	%D%/act/obsolete.cpp \
	%D%/act/requeues.cpp \
	%D%/decide/cause.cpp \
	%D%/decide/comments.cpp \
	%D%/decide/cost.cpp %D%/decide/cost.hpp \
	%D%/decide/culprit.cpp \
	%D%/decide/decide.hpp \
	%D%/decide/exclusions.cpp \
	%D%/decide/failures.cpp \
	%D%/decide/idle_checks.cpp \
	%D%/decide/jobs.cpp \
	%D%/decide/operator.cpp \
	%D%/decide/outcomes.cpp \
	%D%/decide/pauses.cpp \
	%D%/decide/recovery.cpp \
	%D%/decide/preflights.cpp \
	%D%/decide/relaunch.cpp \
	%D%/decide/returns.cpp \
	%D%/decide/slowdown.cpp %D%/decide/slowdown.hpp \
	%D%/decide/weigh.cpp %D%/decide/weigh.hpp \
	%D%/detect/asking.cpp %D%/detect/asking.hpp \
	%D%/detect/commits.cpp \
	%D%/detect/common_cause.cpp %D%/detect/common_cause.hpp \
	%D%/detect/darkness.cpp %D%/detect/darkness.hpp \
	%D%/detect/departures.cpp \
	%D%/detect/detect.hpp \
	%D%/detect/facts.cpp \
	%D%/detect/file_trust.cpp %D%/detect/file_trust.hpp \
	%D%/detect/findings.cpp \
	%D%/detect/agreed_checks.cpp %D%/detect/agreed_checks.hpp \
	%D%/detect/check_signs.cpp %D%/detect/check_signs.hpp \
	%D%/detect/health.cpp %D%/detect/health.hpp \
	%D%/detect/links.cpp \
	%D%/detect/odd_bits.cpp %D%/detect/odd_bits.hpp \
	%D%/detect/maintenance.cpp \
	%D%/detect/node_loss.cpp \
	%D%/detect/peers.cpp %D%/detect/peers.hpp \
	%D%/detect/peers_word.cpp \
	%D%/detect/silence.cpp %D%/detect/silence.hpp \
	%D%/detect/symptoms.cpp %D%/detect/symptoms.hpp \
	%D%/detect/witnesses.cpp %D%/detect/witnesses.hpp \
	%D%/learn/gamma.cpp %D%/learn/gamma.hpp \
	%D%/learn/learn.cpp %D%/learn/learn.hpp \
	%D%/learn/lemon.cpp %D%/learn/lemon.hpp \
	%D%/learn/rates.cpp %D%/learn/rates.hpp \
	%D%/learn/starts.cpp %D%/learn/starts.hpp \
	%D%/repair/ladder.cpp %D%/repair/ladder.hpp \
	%D%/repair/repair.cpp %D%/repair/repair.hpp %D%/repair/repair_fields.hpp \
	%D%/repair/rungs.cpp %D%/repair/rungs.hpp \
	%D%/straggle/causes.cpp \
	%D%/straggle/comparison.hpp \
	%D%/straggle/judge.cpp %D%/straggle/judge.hpp \
	%D%/straggle/paces.cpp %D%/straggle/paces.hpp %D%/straggle/paces_fields.hpp \
	%D%/straggle/rails.cpp \
	%D%/straggle/ras.cpp \
	%D%/straggle/robust.cpp %D%/straggle/robust.hpp \
	%D%/straggle/states.cpp \
	%D%/straggle/waits.cpp
libry_restart_core_la_CXXFLAGS = $(AM_CXXFLAGS) $(HOT_CXXFLAGS)
restart_core_libs = libry_restart_core.la $(wire_libs) libry_interval.la $(sched_libs)
