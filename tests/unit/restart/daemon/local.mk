# restartd and railctl, and the reading of Slurm's records.
tests_unit_unit_daemon_SOURCES = \
	%D%/api_rights_test.cpp \
	%D%/api_signals_test.cpp \
	%D%/api_test.cpp \
	%D%/api_yard.hpp \
	%D%/check_views_test.cpp \
	%D%/crash_test.cpp \
	%D%/driver_programs_test.cpp \
	%D%/driver_test.cpp \
	%D%/dispatcher_test.cpp \
	%D%/explain_test.cpp \
	%D%/health_writer_test.cpp \
	%D%/journal_file_test.cpp \
	%D%/journal_lock_test.cpp \
	%D%/journal_test.cpp \
	%D%/lease_keeper_test.cpp \
	%D%/lease_test.cpp \
	%D%/link_views_test.cpp \
	%D%/metrics_test.cpp \
	%D%/metrics_tokens_test.cpp \
	%D%/plan_test.cpp \
	%D%/program_test.cpp \
	%D%/recorded_worlds_test.cpp \
	%D%/replay_test.cpp \
	%D%/rm_double.hpp \
	%D%/rm_users_test.cpp \
	%D%/seats_test.cpp \
	%D%/signal_book_test.cpp \
	%D%/situation_test.cpp \
	%D%/store_test.cpp \
	tests/unit/restart/rm/looked_up_test.cpp \
	tests/unit/restart/rm/lsf_held_test.cpp \
	tests/unit/restart/rm/lsf_jobs_test.cpp \
	tests/unit/restart/rm/lsf_lists.hpp \
	tests/unit/restart/rm/lsf_nodes_test.cpp \
	tests/unit/restart/rm/lsf_rm_test.cpp \
	tests/unit/restart/rm/lsf_shares_test.cpp \
	tests/unit/restart/rm/lsf_text_test.cpp \
	tests/unit/restart/rm/slurm_calls_test.cpp \
	tests/unit/restart/rm/slurm_checks_test.cpp \
	tests/unit/restart/rm/slurm_ends_test.cpp \
	tests/unit/restart/rm/slurm_free_test.cpp \
	tests/unit/restart/rm/slurm_kept_test.cpp \
	tests/unit/restart/rm/slurm_queue_test.cpp \
	tests/unit/restart/rm/slurm_reading_test.cpp \
	tests/unit/restart/wire/private_munged.cpp tests/unit/restart/wire/private_munged.hpp
tests_unit_unit_daemon_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_daemon_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_daemon_LDADD = libry_unit_world.la libry_unit.la $(railctl_libs) $(restartd_libs)
