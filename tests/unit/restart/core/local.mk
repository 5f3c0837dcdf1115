# A simulated cluster for restart::step, compiled once for both programs.
check_LTLIBRARIES += libry_unit_world.la
libry_unit_world_la_SOURCES = \
	%D%/truth.cpp %D%/truth.hpp \
	%D%/world.cpp %D%/world.hpp %D%/world_agents.cpp %D%/world_forgotten.cpp \
	%D%/world_gangs.cpp \
	%D%/world_idle_checks.cpp %D%/world_repairs.cpp
libry_unit_world_la_CPPFLAGS = $(unit_cppflags)
libry_unit_world_la_CXXFLAGS = $(unit_cxxflags)

tests_unit_unit_core_SOURCES = \
	%D%/agreed_checks_test.cpp \
	%D%/asking_test.cpp \
	%D%/bad_host_test.cpp \
	%D%/bounds_test.cpp \
	%D%/common_cause_test.cpp \
	%D%/cost_test.cpp \
	%D%/crash_loop_test.cpp \
	%D%/darkness_test.cpp \
	%D%/departures_test.cpp \
	%D%/derived_test.cpp \
	%D%/event_fields_test.cpp \
	%D%/exclusion_test.cpp \
	%D%/file_trust_test.cpp \
	%D%/gangs_test.cpp \
	%D%/health_test.cpp \
	%D%/host_use_test.cpp \
	%D%/idle_checks_test.cpp \
	%D%/learn_test.cpp \
	%D%/links_test.cpp \
	%D%/rates_test.cpp \
	%D%/job_kinds_test.cpp \
	%D%/kept_jobs_test.cpp \
	%D%/missing_gpus_test.cpp \
	%D%/modes_test.cpp \
	%D%/node_loss_test.cpp \
	%D%/ownership_test.cpp \
	%D%/peers_test.cpp \
	%D%/preflight_test.cpp \
	%D%/recovery_test.cpp \
	%D%/relaunch_test.cpp \
	%D%/rights_test.cpp \
	%D%/starts_test.cpp \
	%D%/states_page_test.cpp \
	%D%/straggle/judge_test.cpp \
	%D%/straggle/paces_test.cpp \
	%D%/submit_again_test.cpp \
	tests/traces/job_trace.cpp tests/traces/job_trace.hpp
tests_unit_unit_core_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_core_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_core_LDADD = libry_unit_world.la libry_unit.la $(restart_core_libs)

# What simulates hours and random faults: as much work as all the others.
tests_unit_unit_worlds_SOURCES = \
	%D%/fuzz_test.cpp \
	%D%/let_go_test.cpp \
	%D%/repair_checks_test.cpp \
	%D%/repair_test.cpp \
	%D%/silence_test.cpp \
	%D%/worlds_test.cpp
tests_unit_unit_worlds_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_worlds_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_worlds_LDADD = libry_unit_world.la libry_unit.la $(restart_core_libs)
