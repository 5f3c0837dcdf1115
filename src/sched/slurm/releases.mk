# Plugins from the same objects for any number of Slurm releases, as templates of GNU make: only what sees Slurm's
# headers is compiled again. A release that --with-more-slurm-src names has its plugins in slurm-25.11/ of the build
# directory; each release that has a topology plugin has beside it, in shadow/, what stands in for Slurm's own ones under
# their names, for a directory that stands before Slurm's in PluginDir: topology.yaml can name no other.

rail_from = $(srcdir)/src/sched/slurm
rail_headers = $(wildcard $(rail_from)/*.h $(rail_from)/slurm_topology_rail_*.c)
rail_shadows = tree block flat
rail_link = $(AM_V_CXXLD)$(LIBTOOL) $(AM_V_lt) --tag=CXX $(LIBTOOLFLAGS) --mode=link $(CXX) $(AM_CXXFLAGS) $(CXXFLAGS) $(rail_plugin_ldflags) \
	$(LDFLAGS)
more_installed =

# $(1) folder, $(2) a C file's name without suffix, $(3) the object's, $(4) flags
define rail_object
$(1)/$(3).lo: $$(rail_from)/$(2).c $$(rail_headers) Makefile
	@$$(MKDIR_P) $(1)
	$$(AM_V_CC)$$(LTCOMPILE) $(4) -c -o $$@ $$<
endef

# $(1) folder, $(2) a plugin's name, $(3) its objects, $(4) its version script, $(5) library, $(6) installed in pkglibdir/$(6)
define rail_plugin
$(1)/$(2).la: $(addprefix $(1)/,$(addsuffix .lo,$(3))) $(5) $(4)
	$$(rail_link) -Wl,--version-script=$(4) -o $$@ -rpath $$(pkglibdir)/$(6) $(addprefix $(1)/,$(addsuffix .lo,$(3))) $(5)
more_plugins += $(1)/$(2).la
more_installed += $(1)/.libs/$(2).so:$(6)
endef

# $(1) folder, $(2) flags
define rail_topology_objects
$(foreach part,$(filter-out slurm_topology_rail,$(rail_topology_parts)),$(eval $(call rail_object,$(1),$(part),$(part),$(2))))
endef

# $(1) folder, $(2) flags, $(3) where they are installed
define rail_shadow_plugins
$(eval $(call rail_topology_objects,$(1),$(2)))
$(foreach kind,$(rail_shadows),$(eval $(call rail_object,$(1),slurm_topology_rail,$(kind),$(2) -DRAIL_SHADOW=$(kind))))
$(foreach kind,$(rail_shadows),$(eval $(call rail_plugin,$(1),topology_$(kind),$(kind) \
	$(filter-out slurm_topology_rail,$(rail_topology_parts)),$(rail_from)/topology_rail.map,$(slurm_libs),$(3))))
endef

# $(1) release, $(2) flags, $(3) flags with public headers only
define rail_release
$(eval $(call rail_topology_objects,slurm-$(1),$(2)))
$(eval $(call rail_object,slurm-$(1),slurm_topology_rail,slurm_topology_rail,$(2)))
$(eval $(call rail_object,slurm-$(1),slurm_job_submit_rail,slurm_job_submit_rail,$(2)))
$(eval $(call rail_plugin,slurm-$(1),topology_rail,$(rail_topology_parts),$(rail_from)/topology_rail.map,$(slurm_libs),slurm-$(1)))
$(eval $(call rail_plugin,slurm-$(1),job_submit_rail,slurm_job_submit_rail slurm_layout,$(rail_from)/job_submit_rail.map,$(slurm_libs),slurm-$(1)))
$(eval $(call rail_spank,slurm-$(1),$(3)))
$(if $(filter 24.11,$(1)),,$(eval $(call rail_shadow_plugins,slurm-$(1)/shadow,$(2),slurm-$(1)/shadow)))
endef

# SPANK's plugin holds the number of its release, too. $(1) folder, $(2) flags
rail_spank_parts = $(basename $(notdir $(filter %.cpp,$(spank_rail_la_SOURCES))))
define rail_spank
$(foreach part,$(rail_spank_parts),$(eval $(call rail_spank_object,$(1),$(part),$(2))))
$(eval $(call rail_plugin,$(1),spank_rail,$(addprefix spank-,$(rail_spank_parts)),$(srcdir)/src/spank/spank_rail.map,$(spank_libs),$(1)))
endef
define rail_spank_object
$(1)/spank-$(2).lo: $$(srcdir)/src/spank/$(2).cpp $$(wildcard $$(srcdir)/src/spank/*.hpp) Makefile
	@$$(MKDIR_P) $(1)
	$$(AM_V_CXX)$$(LTCXXCOMPILE) $(3) -c -o $$@ $$<
endef

more_plugins =
# The names of releases, as 25.11, in the folders where configure keeps what they want of a topology plugin.
rail_ops_of = $(patsubst -Islurm-ops/%,%,$(filter -Islurm-ops/%,$(1)))
$(foreach release,$(more_slurm),$(eval $(call rail_release,$(release),$(slurm_$(release)_cppflags),$(slurm_$(release)_public_cppflags))))
$(if $(filter-out 24.11,$(call rail_ops_of,$(SLURM_SRC_CPPFLAGS))),\
	$(eval $(call rail_shadow_plugins,shadow,$(SLURM_SRC_CPPFLAGS),shadow)))
$(if $(filter-out 24.11,$(call rail_ops_of,$(SECOND_SLURM_SRC_CPPFLAGS))),\
	$(eval $(call rail_shadow_plugins,second/shadow,$(SECOND_SLURM_SRC_CPPFLAGS),second/shadow)))

.PHONY: more-plugins install-more-plugins uninstall-more-plugins clean-more-plugins
more-plugins: $(more_plugins)
all-am: more-plugins
install-more-plugins: more-plugins
	for each in $(more_installed); do \
	    folder="$(DESTDIR)$(pkglibdir)/$${each#*:}" && $(MKDIR_P) "$$folder" && $(INSTALL_PROGRAM) "$${each%:*}" "$$folder" || exit 1; \
	done
uninstall-more-plugins:
	for each in $(more_installed); do file=$${each%:*}; rm -f "$(DESTDIR)$(pkglibdir)/$${each#*:}/$${file##*/}"; done
clean-more-plugins:
	rm -rf $(addprefix slurm-,$(more_slurm)) shadow second/shadow
install-exec-am: install-more-plugins
uninstall-am: uninstall-more-plugins
clean-am: clean-more-plugins
