# etc

# Beside slurm.conf, where a plugstack.conf of the site includes it.
plugstackdir = $(sysconfdir)/slurm/plugstack.conf.d
dist_plugstack_DATA = %D%/plugstack.conf.d/railyard.conf
