# etc

# For the site to copy beside slurm.conf: there it would be in force at once.
plugstackdir = $(pkgdatadir)/plugstack.conf.d
dist_plugstack_DATA = %D%/plugstack.conf.d/railyard.conf

# A sample, every key at its default; an installation must not overwrite a site's own file.
dist_doc_DATA = %D%/railyard.conf %D%/health.conf

# What a fabric file may hold, for editors and other programs.
dist_pkgdata_DATA = %D%/fabric.schema.json

# systemd units, with the paths of this installation.
systemdunitdir = $(prefix)/lib/systemd/system
systemd_units = %D%/systemd/restartd.service %D%/systemd/nodewatchd.service %D%/systemd/fabricwatchd.service
systemdunit_DATA = $(systemd_units)
CLEANFILES += $(systemd_units)
EXTRA_DIST += $(systemd_units:=.in)
$(systemd_units): %: %.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed 's|[@]sbindir[@]|$(sbindir)|; s|[@]slurm_user[@]|$(slurm_user)|' $< >$@.tmp && mv $@.tmp $@

tmpfilesdir = $(prefix)/lib/tmpfiles.d
dist_tmpfiles_DATA = %D%/tmpfiles.d/railyard.conf

completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = %D%/bash-completion/railcheck %D%/bash-completion/railctl %D%/bash-completion/railplan \
	%D%/bash-completion/railtopo
