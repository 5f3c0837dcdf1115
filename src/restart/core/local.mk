# restart/core: the pure centre that decides; no I/O, no clock, no vendor's word.
noinst_LTLIBRARIES += libry_restart_core.la
libry_restart_core_la_SOURCES = \
	%D%/step.cpp %D%/step.hpp \
	%D%/act/act.hpp \
	%D%/act/gangs.cpp \
	%D%/act/gate.cpp %D%/act/gate.hpp \
	%D%/act/intents.cpp \
	%D%/act/obsolete.cpp \
	%D%/act/requeues.cpp \
	%D%/act/rungs.cpp %D%/act/rungs.hpp \
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
	%D%/decide/preflights.cpp \
	%D%/decide/recovery.cpp \
	%D%/decide/relaunch.cpp \
	%D%/decide/returns.cpp \
	%D%/decide/slowdown.cpp %D%/decide/slowdown.hpp \
	%D%/decide/weigh.cpp %D%/decide/weigh.hpp \
	%D%/detect/agreed_checks.cpp %D%/detect/agreed_checks.hpp \
	%D%/detect/asking.cpp %D%/detect/asking.hpp \
	%D%/detect/check_signs.cpp %D%/detect/check_signs.hpp \
	%D%/detect/commits.cpp \
	%D%/detect/common_cause.cpp %D%/detect/common_cause.hpp \
	%D%/detect/darkness.cpp %D%/detect/darkness.hpp \
	%D%/detect/departures.cpp \
	%D%/detect/detect.hpp \
	%D%/detect/facts.cpp \
	%D%/detect/file_trust.cpp %D%/detect/file_trust.hpp \
	%D%/detect/findings.cpp \
	%D%/detect/health.cpp %D%/detect/health.hpp \
	%D%/detect/idle_checks.cpp \
	%D%/detect/links.cpp \
	%D%/detect/maintenance.cpp \
	%D%/detect/node_loss.cpp \
	%D%/detect/odd_bits.cpp %D%/detect/odd_bits.hpp \
	%D%/detect/paces.cpp \
	%D%/detect/peers.cpp %D%/detect/peers.hpp \
	%D%/detect/peers_word.cpp \
	%D%/detect/silence.cpp %D%/detect/silence.hpp \
	%D%/detect/symptoms.cpp %D%/detect/symptoms.hpp \
	%D%/detect/witnesses.cpp %D%/detect/witnesses.hpp \
	%D%/estimate/gamma.cpp %D%/estimate/gamma.hpp \
	%D%/estimate/rates.cpp %D%/estimate/rates.hpp \
	%D%/estimate/starts.cpp %D%/estimate/starts.hpp \
	%D%/facts/action.cpp %D%/facts/action.hpp \
	%D%/facts/bounds.cpp %D%/facts/bounds.hpp \
	%D%/facts/event.hpp \
	%D%/facts/fabric_facts.hpp \
	%D%/facts/former_hosts.hpp \
	%D%/facts/gang_plan.hpp \
	%D%/facts/host_use.cpp %D%/facts/host_use.hpp \
	%D%/facts/idle_check.hpp \
	%D%/facts/incident.hpp \
	%D%/facts/kept_jobs.cpp %D%/facts/kept_jobs.hpp \
	%D%/facts/kept_out.cpp %D%/facts/kept_out.hpp \
	%D%/facts/known_check.cpp %D%/facts/known_check.hpp \
	%D%/facts/ladder.cpp %D%/facts/ladder.hpp \
	%D%/facts/names.hpp \
	%D%/facts/note.hpp \
	%D%/facts/pauses.cpp %D%/facts/pauses.hpp \
	%D%/facts/peer_hash.hpp \
	%D%/facts/peer_looks.hpp \
	%D%/facts/policy.cpp %D%/facts/policy.hpp \
	%D%/facts/repair_state.hpp \
	%D%/facts/rights.cpp %D%/facts/rights.hpp \
	%D%/facts/rm.hpp \
	%D%/facts/rm_queue.hpp \
	%D%/facts/state.cpp %D%/facts/state.hpp \
	%D%/facts/step_context.cpp %D%/facts/step_context.hpp \
	%D%/learn/learn.cpp %D%/learn/learn.hpp \
	%D%/learn/lemon.cpp %D%/learn/lemon.hpp \
	%D%/repair/repair.cpp %D%/repair/repair.hpp \
	%D%/store/event_fields.hpp \
	%D%/store/event_log.cpp %D%/store/event_log.hpp \
	%D%/store/gang_fields.hpp \
	%D%/store/idle_check_fields.hpp \
	%D%/store/known_check_fields.hpp \
	%D%/store/learned_fields.hpp \
	%D%/store/paces_fields.hpp \
	%D%/store/repair_fields.hpp \
	%D%/store/rm_fields.hpp \
	%D%/store/state_1.cpp %D%/store/state_1.hpp \
	%D%/store/state_fields.hpp \
	%D%/store/state_json.cpp %D%/store/state_json.hpp \
	%D%/store/state_rows.cpp %D%/store/state_rows.hpp \
	%D%/straggle/causes.cpp \
	%D%/straggle/comparison.hpp \
	%D%/straggle/judge.cpp %D%/straggle/judge.hpp \
	%D%/straggle/paces.hpp \
	%D%/straggle/rails.cpp \
	%D%/straggle/ras.cpp \
	%D%/straggle/robust.cpp %D%/straggle/robust.hpp \
	%D%/straggle/states.cpp \
	%D%/straggle/waits.cpp
libry_restart_core_la_CXXFLAGS = $(AM_CXXFLAGS) $(HOT_CXXFLAGS)
restart_core_libs = libry_restart_core.la $(wire_libs) libry_interval.la $(sched_libs)
