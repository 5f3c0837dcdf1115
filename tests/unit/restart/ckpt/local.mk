tests_unit_unit_ckpt_SOURCES = \
	%D%/agent_double.hpp \
	%D%/agent_test.cpp \
	%D%/asking_test.cpp \
	%D%/c_api_test.cpp \
	%D%/crash_test.cpp \
	%D%/fence_test.cpp \
	%D%/folder.hpp \
	%D%/import_test.cpp \
	%D%/interval_test.cpp \
	%D%/job_processes_test.cpp \
	%D%/keeping_test.cpp \
	%D%/kinds/files_test.cpp \
	%D%/kinds/follow_test.cpp \
	%D%/kinds/layouts.hpp \
	%D%/kinds/look_test.cpp \
	%D%/manifest_test.cpp \
	%D%/marks_test.cpp \
	%D%/prune_test.cpp \
	%D%/schedule_test.cpp \
	%D%/session_test.cpp \
	%D%/sessions.hpp \
	%D%/bjobs_test.cpp \
	%D%/squeue_test.cpp \
	%D%/work_test.cpp
tests_unit_unit_ckpt_CPPFLAGS = $(unit_cppflags)
tests_unit_unit_ckpt_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_ckpt_LDADD = libry_unit.la $(kinds_libs) $(ckpt_libs)

check_PROGRAMS += tests/unit/restart/ckpt/c_program
tests_unit_restart_ckpt_c_program_SOURCES = %D%/c_program.c
tests_unit_restart_ckpt_c_program_LDADD = librailckpt.la
TESTS += %D%/exports %D%/python_test.py %D%/lost_work_test.py %D%/marks_python_test.py %D%/saving_python_test.py %D%/watch_test.py
EXTRA_DIST += %D%/exports %D%/over_build.py %D%/python_test.py %D%/lost_work_test.py %D%/marks_python_test.py %D%/saving_python_test.py %D%/watch_test.py
