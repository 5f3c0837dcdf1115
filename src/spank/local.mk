# spank_rail.so. It is loaded into every sbatch, salloc, srun and slurmstepd: only its hooks leave it.
noinst_LTLIBRARIES += libry_spank.la
libry_spank_la_SOURCES = \
	%D%/binding.cpp %D%/binding.hpp \
	%D%/environment.cpp %D%/environment.hpp \
	%D%/host_view.cpp %D%/host_view.hpp \
	%D%/options.cpp %D%/options.hpp
libry_spank_la_LIBADD = libry_hwloc_numa.la libry_sched.la

slurmplugin_LTLIBRARIES += spank_rail.la
spank_rail_la_SOURCES = %D%/spank_rail.cpp %D%/dispatch.cpp %D%/plugin.hpp %D%/submit.cpp %D%/task.cpp
spank_rail_la_LDFLAGS = $(rail_plugin_ldflags) -Wl,--version-script=$(srcdir)/%D%/spank_rail.map
EXTRA_spank_rail_la_DEPENDENCIES = %D%/spank_rail.map
EXTRA_DIST += %D%/spank_rail.map
spank_rail_la_LIBADD = libry_spank.la
