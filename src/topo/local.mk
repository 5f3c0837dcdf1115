# topo: the fabric, where it comes from, what follows from it, and how it is shown.
noinst_LTLIBRARIES += libry_topo.la
libry_topo_la_SOURCES = \
	%D%/derive.cpp %D%/derive.hpp %D%/derive_parts.hpp \
	%D%/derive_leaves.cpp \
	%D%/derive_numbers.cpp %D%/derive_numbers.hpp \
	%D%/derive_pods.cpp \
	%D%/derive_tiers.cpp \
	%D%/derive_units.cpp \
	%D%/excerpt.cpp %D%/excerpt.hpp \
	%D%/fabric.cpp %D%/fabric.hpp \
	%D%/end_names.cpp %D%/end_names.hpp \
	%D%/fabric_json.cpp %D%/fabric_json.hpp \
	%D%/fabric_print.cpp \
	%D%/guid.hpp \
	%D%/json_walk.cpp %D%/json_walk.hpp \
	%D%/meeting.cpp %D%/meeting.hpp \
	%D%/nameless.hpp %D%/names.cpp %D%/names.hpp \
	%D%/numbered_name.cpp %D%/numbered_name.hpp \
	%D%/order.cpp %D%/order.hpp \
	%D%/rate.cpp %D%/rate.hpp \
	%D%/sets.hpp \
	%D%/check/check.cpp %D%/check/check.hpp %D%/check/parts.hpp \
	%D%/check/absent.cpp %D%/check/absent.hpp \
	%D%/check/against_plan.cpp %D%/check/against_plan.hpp \
	%D%/check/cabling.cpp \
	%D%/check/domains.cpp \
	%D%/check/fabric.cpp \
	%D%/check/globals.cpp \
	%D%/check/gpus.cpp \
	%D%/check/hosts.cpp \
	%D%/check/leaves.cpp \
	%D%/check/links.cpp \
	%D%/check/missing.cpp \
	%D%/check/missing_units.cpp \
	%D%/check/nameless.cpp %D%/check/nameless.hpp \
	%D%/check/names.cpp \
	%D%/check/order.cpp \
	%D%/check/plan.cpp %D%/check/plan.hpp \
	%D%/check/series.cpp %D%/check/series.hpp \
	%D%/check/storage.cpp %D%/check/storage.hpp \
	%D%/check/strays.cpp %D%/check/strays.hpp \
	%D%/check/unnamed.cpp %D%/check/unnamed.hpp \
	%D%/check/unnamed_places.cpp \
	%D%/check/uplinks.cpp \
	%D%/check/vanished.cpp %D%/check/vanished.hpp \
	%D%/diff/cables.cpp %D%/diff/cables.hpp \
	%D%/diff/diff.cpp %D%/diff/diff.hpp \
	%D%/diff/match.cpp %D%/diff/match.hpp \
	%D%/diff/report.hpp \
	%D%/diff/report_cables.cpp \
	%D%/diff/report_hcas.cpp \
	%D%/diff/report_hosts.cpp \
	%D%/diff/report_links.cpp \
	%D%/diff/report_switches.cpp \
	%D%/draw/cables.cpp %D%/draw/cables.hpp \
	%D%/draw/canvas.cpp %D%/draw/canvas.hpp \
	%D%/draw/groups.cpp %D%/draw/groups.hpp \
	%D%/draw/key.cpp %D%/draw/key.hpp \
	%D%/draw/layout.cpp %D%/draw/layout.hpp \
	%D%/draw/marks.cpp %D%/draw/marks.hpp \
	%D%/draw/metrics.cpp %D%/draw/metrics.hpp \
	%D%/draw/overlay.cpp %D%/draw/overlay.hpp \
	%D%/draw/palette.cpp %D%/draw/palette.hpp \
	%D%/draw/show.cpp %D%/draw/show.hpp \
	%D%/draw/svg.cpp %D%/draw/svg.hpp \
	%D%/draw/words.cpp %D%/draw/words.hpp \
	%D%/export/compute_units.cpp \
	%D%/export/export.cpp %D%/export/export.hpp %D%/export/formats.hpp \
	%D%/export/graphviz.cpp \
	%D%/export/lsf_files.cpp \
	%D%/export/nccl.cpp %D%/export/nccl.hpp \
	%D%/export/open_mpi.cpp \
	%D%/export/topology_conf.cpp \
	%D%/export/topology_yaml.cpp \
	%D%/export/tree.cpp %D%/export/tree.hpp \
	%D%/host/gather.cpp %D%/host/gather.hpp \
	%D%/host/host_facts.cpp %D%/host/host_facts.hpp %D%/host/numa.hpp \
	%D%/host/kernel_hcas.cpp %D%/host/kernel_hcas.hpp \
	%D%/read/assemble.cpp %D%/read/assemble.hpp \
	%D%/read/attachments.cpp %D%/read/attachments.hpp \
	%D%/read/blocks.cpp %D%/read/blocks.hpp \
	%D%/read/carry_over.cpp %D%/read/carry_over.hpp \
	%D%/read/host_names.cpp %D%/read/host_names.hpp \
	%D%/read/ibnetdiscover.cpp %D%/read/ibnetdiscover.hpp \
	%D%/read/loss.cpp %D%/read/loss.hpp \
	%D%/read/lsf_hosts.cpp %D%/read/lsf_hosts.hpp \
	%D%/read/name_lists.hpp \
	%D%/read/opensm.cpp %D%/read/opensm.hpp \
	%D%/read/outline.cpp %D%/read/outline.hpp \
	%D%/read/raw_fabric.hpp \
	%D%/read/networks.cpp %D%/read/networks.hpp \
	%D%/read/roles.cpp %D%/read/roles.hpp \
	%D%/read/rules.cpp %D%/read/rules.hpp \
	%D%/read/slurm_states.cpp %D%/read/slurm_states.hpp \
	%D%/read/slurm_topology.hpp %D%/read/topology_conf.cpp \
	%D%/read/text.cpp %D%/read/text.hpp \
	%D%/synth/ibsim_net.cpp %D%/synth/ibsim_net.hpp \
	%D%/synth/plant.cpp %D%/synth/plant.hpp \
	%D%/synth/synth.cpp %D%/synth/synth.hpp
topo_libs = libry_topo.la $(base_libs)

# Apart, so that only programs that talk to the fabric need its libraries.
noinst_LTLIBRARIES += libry_mad_discover.la
libry_mad_discover_la_SOURCES = %D%/read/mad_discover.cpp %D%/read/mad_discover.hpp
libry_mad_discover_la_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
libry_mad_discover_la_LIBADD = $(IBMAD_LIBS)
mad_discover_libs = libry_mad_discover.la $(topo_libs)

# Likewise libyaml, and with it what chooses among the foreign formats.
noinst_LTLIBRARIES += libry_source.la
libry_source_la_SOURCES = \
	%D%/read/clean.cpp %D%/read/clean.hpp \
	%D%/read/db_csv.cpp %D%/read/db_csv.hpp \
	%D%/read/iblinkinfo.cpp %D%/read/iblinkinfo.hpp \
	%D%/read/modules.cpp %D%/read/modules.hpp \
	%D%/read/net_dump.cpp %D%/read/net_dump.hpp \
	%D%/read/plan_file.cpp %D%/read/plan_file.hpp \
	%D%/read/source.cpp %D%/read/source.hpp \
	%D%/read/text_nodes.cpp %D%/read/text_nodes.hpp \
	%D%/read/topology_yaml.cpp \
	%D%/read/ufm.cpp %D%/read/ufm.hpp \
	%D%/read/yaml.cpp %D%/read/yaml.hpp
libry_source_la_CPPFLAGS = $(AM_CPPFLAGS) $(YAML_CFLAGS)
libry_source_la_LIBADD = $(YAML_LIBS)
source_libs = libry_source.la $(topo_libs)

# Likewise hwloc.
noinst_LTLIBRARIES += libry_hwloc.la
libry_hwloc_la_SOURCES = %D%/host/hwloc_facts.cpp %D%/host/hwloc_facts.hpp
libry_hwloc_la_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
libry_hwloc_la_LIBADD = $(HWLOC_LIBS)
hwloc_libs = libry_hwloc.la $(topo_libs)

# Without $(topo_libs), which what takes it into a plugin names already.
noinst_LTLIBRARIES += libry_hwloc_numa.la
libry_hwloc_numa_la_SOURCES = %D%/host/hwloc_numa.cpp %D%/host/hwloc_numa.hpp
libry_hwloc_numa_la_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
libry_hwloc_numa_la_LIBADD = $(HWLOC_LIBS)

# Likewise what restartd says.
noinst_LTLIBRARIES += libry_status_overlay.la
libry_status_overlay_la_SOURCES = %D%/tool/status_overlay.cpp %D%/tool/status_overlay.hpp
status_overlay_libs = libry_status_overlay.la $(wire_libs)

bin_PROGRAMS += railtopo
railtopo_SOURCES = \
	%D%/tool/bless.cpp \
	%D%/tool/check.cpp \
	%D%/tool/command.cpp %D%/tool/command.hpp \
	%D%/tool/diff.cpp \
	%D%/tool/discover.cpp \
	%D%/tool/export.cpp \
	%D%/tool/gather.cpp \
	%D%/tool/host.cpp \
	%D%/tool/railtopo.cpp \
	%D%/tool/show.cpp \
	%D%/tool/synth.cpp
railtopo_LDADD = $(status_overlay_libs) $(probe_libs) $(source_libs) $(mad_discover_libs) $(hwloc_libs) $(cli_libs)
