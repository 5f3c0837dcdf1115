# System tests: a real cluster on this machine (tests/system/run --help). They need root and are run by tests/run,
# not by `make check`.
EXTRA_DIST += \
	%D%/quickstart.py \
	%D%/run \
	%D%/soak.py \
	%D%/railcluster/__init__.py \
	%D%/railcluster/accounting.py \
	%D%/railcluster/agents.py \
	%D%/railcluster/build.py \
	%D%/railcluster/cluster.py \
	%D%/railcluster/deadline.py \
	%D%/railcluster/fabric.py \
	%D%/railcluster/faults.py \
	%D%/railcluster/fresh.py \
	%D%/railcluster/hosts.py \
	%D%/railcluster/jobs.py \
	%D%/railcluster/lsf.py \
	%D%/railcluster/plain.py \
	%D%/railcluster/process.py \
	%D%/railcluster/prolog \
	%D%/railcluster/queue.py \
	%D%/railcluster/reboot \
	%D%/railcluster/request.py \
	%D%/railcluster/shell.py \
	%D%/railcluster/site.py \
	%D%/railcluster/slurm.py \
	%D%/railcluster/story.py \
	%D%/railcluster/testing.py \
	%D%/railcluster/userland.py \
	%D%/railcluster/workers.py \
	%D%/newer_slurm.py \
	%D%/test_binding.py \
	%D%/test_checkpoints.py \
	%D%/test_cluster.py \
	%D%/test_decide.py \
	%D%/test_doctor.py \
	%D%/test_enable.py \
	%D%/test_enable_backup.py \
	%D%/test_enable_hosts.py \
	%D%/test_examples.py \
	%D%/test_explain.py \
	%D%/test_exports.py \
	%D%/test_fabric.py \
	%D%/test_fabric_rules.py \
	%D%/test_failover.py \
	%D%/test_faults.py \
	%D%/test_flags.py \
	%D%/test_health.py \
	%D%/test_installation.py \
	%D%/test_job_failures.py \
	%D%/test_kinds_of_jobs.py \
	%D%/test_lease.py \
	%D%/test_life.py \
	%D%/test_lsf.py \
	%D%/test_lsf_chaos.py \
	%D%/test_lsf_cut.py \
	%D%/test_lsf_held.py \
	%D%/test_lsf_order.py \
	%D%/test_lsf_short_cut.py \
	%D%/test_lsf_hard.py \
	%D%/test_lsf_tools.py \
	%D%/test_lsf_tour.py \
	%D%/test_manual.py \
	%D%/test_notices.py \
	%D%/test_operator.py \
	%D%/test_modes.py \
	%D%/test_order.py \
	%D%/test_packing.py \
	%D%/test_peers.py \
	%D%/test_placement.py \
	%D%/test_plugins.py \
	%D%/test_protocol.py \
	%D%/test_railrun.py \
	%D%/test_rates.py \
	%D%/test_reboots.py \
	%D%/test_restart.py \
	%D%/test_return.py \
	%D%/test_rights.py \
	%D%/test_signals.py \
	%D%/test_slurm2411.py \
	%D%/test_slurm2411_enable.py \
	%D%/test_slurm2411_faults.py \
	%D%/test_slurm2411_life.py \
	%D%/test_slurm2411_reboots.py \
	%D%/test_slurm2411_wishes.py \
	%D%/test_slurm2505.py \
	%D%/test_slurm2505_named.py \
	%D%/test_slurm2511.py \
	%D%/test_slurm2511_named.py \
	%D%/test_slurm2605.py \
	%D%/test_slurm2605_named.py \
	%D%/test_slurm_user.py \
	%D%/test_soak.py \
	%D%/test_stragglers.py \
	%D%/test_ucx.py \
	%D%/test_watch.py \
	%D%/test_wishes.py

# What one cluster runs, and the job that quickstart takes through its faults: less than half of all.
.PHONY: cluster
cluster: $(slurmplugin_LTLIBRARIES) librailucx.la restartd railctl railrun nodewatchd fabricwatchd railtopo tests/apps/heat2d \
	tests/doubles/libnvidia-ml.so.1 tests/doubles/libclock_step.so

# Thousands of jobs through the plugins in slurmctld, under ASan and UBSan: a quarter of an hour for each release.
.PHONY: soak
soak: all
	$(srcdir)/%D%/soak.py --build .
