# railctl doctor, enable and disable; most of what railctl shows of restartd's answers is tested with the daemon that gives them.
tests_unit_unit_ctl_SOURCES = %D%/doctor_lsf_test.cpp %D%/doctor_test.cpp %D%/enable_test.cpp \
	%D%/follow_test.cpp %D%/moments_test.cpp %D%/show_test.cpp %D%/slurm_text_test.cpp
tests_unit_unit_ctl_CPPFLAGS = $(unit_cppflags) -DTEST_SLURM_PLUGINS='"$(slurmplugindir)"'
tests_unit_unit_ctl_CXXFLAGS = $(unit_cxxflags)
tests_unit_unit_ctl_LDADD = libry_unit.la $(enable_libs) $(railctl_libs) $(http_libs)
TESTS += %D%/completion_test.py
EXTRA_DIST += %D%/completion_test.py
