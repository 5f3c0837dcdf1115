# Plugins inside slurmctld. What decides is C++ without Slurm types (libry_slurm) and is always built and
# tested; the thin C around it needs Slurm's internal headers (--with-slurm-src).
noinst_LTLIBRARIES += libry_slurm.la
libry_slurm_la_SOURCES = \
	%D%/admin_comment.cpp %D%/admin_comment.hpp \
	%D%/advisor.cpp %D%/advisor.h \
	%D%/host_states.cpp %D%/host_states.hpp \
	%D%/queue_text.cpp %D%/queue_text.hpp \
	%D%/submission.cpp %D%/submission.hpp \
	%D%/submit.cpp %D%/submit.h
slurm_libs = libry_slurm.la $(advisor_libs)

# libtool's -export-symbols hides nothing when it links C++; version scripts do.
EXTRA_DIST += %D%/select_rail.map %D%/topology_rail.map %D%/job_submit_rail.map

# -z lazy: clients and slurmd load the plugins too, and only slurmctld has all the functions they call.
rail_plugin_ldflags = -module -avoid-version -shared -Wl,-z,lazy -Wl,--gc-sections

# What the plugins that choose nodes share.
rail_chooser_sources = %D%/slurm_inside.h %D%/slurm_node_holds.c %D%/slurm_node_holds.h \
	%D%/slurm_question.c %D%/slurm_question.h %D%/slurm_stock.c %D%/slurm_stock.h

if SLURM_SRC_SELECT
slurmplugin_LTLIBRARIES += select_rail.la
select_rail_la_SOURCES = %D%/slurm_select_rail.c %D%/slurm_select_stock.c %D%/slurm_occupancy.c %D%/slurm_occupancy.h \
	%D%/slurm_preemption.c %D%/slurm_preemption.h \
	$(rail_chooser_sources)
# No such file: its suffix makes automake link with the C++ compiler.
nodist_EXTRA_select_rail_la_SOURCES = linked.cpp
select_rail_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_SRC_CPPFLAGS)
select_rail_la_LDFLAGS = $(rail_plugin_ldflags) -Wl,--version-script=$(srcdir)/%D%/select_rail.map
EXTRA_select_rail_la_DEPENDENCIES = %D%/select_rail.map
select_rail_la_LIBADD = $(slurm_libs)

# The same under the stock plugin's name, for a directory that stands before Slurm's own in PluginDir.
railshadowdir = $(pkglibdir)/shadow
railshadow_LTLIBRARIES = %D%/shadow/select_cons_tres.la
%C%_shadow_select_cons_tres_la_SOURCES = $(select_rail_la_SOURCES)
nodist_EXTRA_%C%_shadow_select_cons_tres_la_SOURCES = linked.cpp
%C%_shadow_select_cons_tres_la_CPPFLAGS = $(select_rail_la_CPPFLAGS) -DRAIL_SHADOW
%C%_shadow_select_cons_tres_la_LDFLAGS = $(select_rail_la_LDFLAGS)
EXTRA_%C%_shadow_select_cons_tres_la_DEPENDENCIES = $(EXTRA_select_rail_la_DEPENDENCIES)
%C%_shadow_select_cons_tres_la_LIBADD = $(slurm_libs)
endif

# The shared parts of the topology plugin, and slurm_topology_release.c, which includes its release's own file.
rail_topology_parts = slurm_topology_rail slurm_topology_release slurm_topology_part slurm_layout slurm_node_holds slurm_question \
	slurm_stock
rail_topology_sources = %D%/slurm_topology_rail.c %D%/slurm_topology_rail.h %D%/slurm_topology_release.c \
	%D%/slurm_topology_part.c %D%/slurm_layout.c %D%/slurm_layout.h $(rail_chooser_sources)
EXTRA_DIST += %D%/slurm_topology_rail_2411.c %D%/slurm_topology_rail_2505.c %D%/slurm_topology_rail_2511.c \
	%D%/slurm_topology_rail_2605.c build-aux/slurm-topology-ops %D%/releases.mk

if SLURM_SRC_TOPOLOGY
slurmplugin_LTLIBRARIES += topology_rail.la
topology_rail_la_SOURCES = $(rail_topology_sources)
nodist_EXTRA_topology_rail_la_SOURCES = linked.cpp
topology_rail_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_SRC_CPPFLAGS)
topology_rail_la_LDFLAGS = $(rail_plugin_ldflags) -Wl,--version-script=$(srcdir)/%D%/topology_rail.map
EXTRA_topology_rail_la_DEPENDENCIES = %D%/topology_rail.map
topology_rail_la_LIBADD = $(slurm_libs)
endif

if SLURM_SRC
slurmplugin_LTLIBRARIES += job_submit_rail.la
job_submit_rail_la_SOURCES = %D%/slurm_job_submit_rail.c %D%/slurm_layout.c %D%/slurm_layout.h
nodist_EXTRA_job_submit_rail_la_SOURCES = linked.cpp
job_submit_rail_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_SRC_CPPFLAGS)
job_submit_rail_la_LDFLAGS = $(rail_plugin_ldflags) -Wl,--version-script=$(srcdir)/%D%/job_submit_rail.map
EXTRA_job_submit_rail_la_DEPENDENCIES = %D%/job_submit_rail.map
job_submit_rail_la_LIBADD = $(slurm_libs)
endif

# The plugins of another release, from the same objects: only what sees Slurm's headers is compiled again.
secondplugindir = $(pkglibdir)/second
secondplugin_LTLIBRARIES =
if SECOND_SLURM_SRC_TOPOLOGY
secondplugin_LTLIBRARIES += second/topology_rail.la
second_topology_rail_la_SOURCES = $(rail_topology_sources)
nodist_EXTRA_second_topology_rail_la_SOURCES = linked.cpp
second_topology_rail_la_CPPFLAGS = $(AM_CPPFLAGS) $(SECOND_SLURM_SRC_CPPFLAGS)
second_topology_rail_la_LDFLAGS = $(rail_plugin_ldflags) -Wl,--version-script=$(srcdir)/%D%/topology_rail.map
EXTRA_second_topology_rail_la_DEPENDENCIES = %D%/topology_rail.map
second_topology_rail_la_LIBADD = $(slurm_libs)
endif
if SECOND_SLURM_SRC
secondplugin_LTLIBRARIES += second/job_submit_rail.la
second_job_submit_rail_la_SOURCES = %D%/slurm_job_submit_rail.c %D%/slurm_layout.c %D%/slurm_layout.h
nodist_EXTRA_second_job_submit_rail_la_SOURCES = linked.cpp
second_job_submit_rail_la_CPPFLAGS = $(AM_CPPFLAGS) $(SECOND_SLURM_SRC_CPPFLAGS)
second_job_submit_rail_la_LDFLAGS = $(rail_plugin_ldflags) -Wl,--version-script=$(srcdir)/%D%/job_submit_rail.map
EXTRA_second_job_submit_rail_la_DEPENDENCIES = %D%/job_submit_rail.map
second_job_submit_rail_la_LIBADD = $(slurm_libs)
endif

# What configure was told of further releases, and the rules for them and for what stands in under the names of Slurm's own
# topology plugins: templates of GNU make, which automake cannot read.
-include more-slurm.mk
-include $(srcdir)/src/sched/slurm/releases.mk

.PHONY: plugins
plugins: $(slurmplugin_LTLIBRARIES) $(secondplugin_LTLIBRARIES) more-plugins
