# spank_rail.so. It is loaded into every sbatch, salloc, srun and slurmstepd: only its hooks leave it.
noinst_LTLIBRARIES += libry_spank.la
libry_spank_la_SOURCES = \
	%D%/binding.cpp %D%/binding.hpp \
	%D%/environment.cpp %D%/environment.hpp \
	%D%/host_view.cpp %D%/host_view.hpp \
	%D%/options.cpp %D%/options.hpp \
	%D%/preload.cpp %D%/preload.hpp \
	%D%/rank_lists.cpp %D%/rank_lists.hpp \
	%D%/statistics.cpp %D%/statistics.hpp \
	%D%/step_layout.cpp %D%/step_layout.hpp
spank_libs = libry_spank.la libry_hwloc_numa.la $(sched_libs)

slurmplugin_LTLIBRARIES += spank_rail.la
spank_rail_la_SOURCES = \
	%D%/spank_rail.cpp %D%/dispatch.cpp %D%/plugin.hpp \
	%D%/launch.cpp \
	%D%/order.cpp %D%/order.hpp \
	%D%/preflight.cpp %D%/preflight.hpp \
	%D%/remote.cpp %D%/remote.hpp \
	%D%/slurmd.cpp \
	%D%/slurmctld_conf.cpp %D%/slurmctld_conf.hpp \
	%D%/submit.cpp \
	%D%/task.cpp \
	%D%/watching.cpp %D%/watching.hpp
# SPANK's header of the Slurm the other plugins are for, where its source is given.
spank_rail_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_SRC_PUBLIC_CPPFLAGS)
spank_rail_la_LDFLAGS = $(rail_plugin_ldflags) -Wl,--version-script=$(srcdir)/%D%/spank_rail.map
EXTRA_spank_rail_la_DEPENDENCIES = %D%/spank_rail.map
EXTRA_DIST += %D%/spank_rail.map
spank_rail_la_LIBADD = $(spank_libs)

if SECOND_SLURM_SRC
secondplugin_LTLIBRARIES += second/spank_rail.la
second_spank_rail_la_SOURCES = $(spank_rail_la_SOURCES)
second_spank_rail_la_CPPFLAGS = $(AM_CPPFLAGS) $(SECOND_SLURM_SRC_PUBLIC_CPPFLAGS)
second_spank_rail_la_LDFLAGS = $(spank_rail_la_LDFLAGS)
EXTRA_second_spank_rail_la_DEPENDENCIES = $(EXTRA_spank_rail_la_DEPENDENCIES)
second_spank_rail_la_LIBADD = $(spank_rail_la_LIBADD)
endif
