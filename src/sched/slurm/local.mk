# Plugins inside slurmctld. What decides is C++ without Slurm types (libry_advisor) and is always built and
# tested; the thin C around it needs Slurm's internal headers (--with-slurm-src).
noinst_LTLIBRARIES += libry_advisor.la
libry_advisor_la_SOURCES = \
	%D%/advisor.cpp %D%/advisor.h \
	%D%/attempts.cpp %D%/attempts.hpp \
	%D%/fabric_file.cpp %D%/fabric_file.hpp \
	%D%/submission.cpp %D%/submission.hpp \
	%D%/submit.cpp %D%/submit.h
libry_advisor_la_LIBADD = libry_sched.la

# -z lazy: clients and slurmd load the plugins too, and only slurmctld has all the functions they call.
rail_plugin_ldflags = -module -avoid-version -shared -Wl,-z,lazy -Wl,--gc-sections
