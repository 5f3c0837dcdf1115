# restart/railctl: railctl, which asks restartd and shows its answers.
noinst_LTLIBRARIES += libry_railctl.la
libry_railctl_la_SOURCES = %D%/follow.cpp %D%/follow.hpp %D%/moments.cpp %D%/moments.hpp \
	%D%/show.cpp %D%/show.hpp %D%/show_checks.cpp %D%/show_checks.hpp \
	%D%/show_links.cpp %D%/show_links.hpp %D%/show_rates.cpp %D%/show_rates.hpp \
	%D%/show_signals.cpp %D%/show_signals.hpp %D%/show_time.cpp %D%/show_time.hpp
railctl_libs = libry_railctl.la $(explain_show_libs)
bin_PROGRAMS += railctl
railctl_SOURCES = %D%/railctl.cpp %D%/restartd_connection.cpp %D%/restartd_connection.hpp
railctl_LDADD = $(enable_libs) $(railctl_libs) $(http_libs) $(cli_libs)

# What is wrong with an installation: facts are gathered, then judged.
noinst_LTLIBRARIES += libry_doctor.la
libry_doctor_la_SOURCES = \
	%D%/doctor/checks.cpp %D%/doctor/checks.hpp \
	%D%/doctor/facts.hpp \
	%D%/doctor/gather.cpp %D%/doctor/gather.hpp \
	%D%/doctor/lsf.hpp %D%/doctor/lsf_checks.cpp %D%/doctor/lsf_gather.cpp \
	%D%/doctor/plugins.cpp %D%/doctor/plugins.hpp \
	%D%/doctor/show.cpp %D%/doctor/show.hpp
doctor_libs = libry_doctor.la $(http_libs) $(topo_libs)

# Switching placement on and off: facts are gathered, planned on, and carried out.
noinst_LTLIBRARIES += libry_enable.la
libry_enable_la_SOURCES = \
	%D%/enable/acting.cpp %D%/enable/acting.hpp \
	%D%/enable/apply.cpp %D%/enable/apply.hpp \
	%D%/enable/command.cpp %D%/enable/command.hpp \
	%D%/enable/commands.cpp %D%/enable/commands.hpp \
	%D%/enable/facts.hpp \
	%D%/enable/files.cpp %D%/enable/files.hpp \
	%D%/enable/gather.cpp %D%/enable/gather.hpp \
	%D%/enable/means.cpp %D%/enable/means.hpp \
	%D%/enable/obstacles.cpp %D%/enable/obstacles.hpp \
	%D%/enable/plan.cpp %D%/enable/plan.hpp \
	%D%/enable/settings.cpp %D%/enable/settings.hpp \
	%D%/enable/show.cpp %D%/enable/show.hpp \
	%D%/enable/slurm_text.cpp %D%/enable/slurm_text.hpp \
	%D%/enable/slurmds.cpp %D%/enable/slurmds.hpp \
	%D%/enable/steadfast.cpp %D%/enable/steadfast.hpp \
	%D%/enable/wait.cpp %D%/enable/wait.hpp
libry_enable_la_CPPFLAGS = $(AM_CPPFLAGS) -DSLURM_PLUGIN_DIR='"$(slurmplugindir)"' -DRAIL_SHADOW_DIR='"$(pkglibdir)/shadow"'
enable_libs = libry_enable.la $(doctor_libs) $(cli_libs)
