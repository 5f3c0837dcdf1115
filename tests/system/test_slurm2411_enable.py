"""railctl enable and disable with Slurm 24.11, where a topology plugin chooses nodes."""

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import log_lines
from railcluster.site import Site
from railcluster.testing import equal
from railcluster.userland import debian13
from test_enable import (Watched, chooser, railctl, test_a_command_that_is_cut_off_goes_on, test_a_slurmctld_that_does_not_start,  # noqa: F401
                         test_on_and_off_with_running_jobs, test_something_in_the_way_stops_it_at_once,
                         test_the_log_has_the_emergency_line, test_the_plan_changes_nothing)

NEEDS = ["railctl", "second/.libs/topology_rail.so", "second/.libs/job_submit_rail.so", "second/.libs/spank_rail.so"]


def options(build):
    """Stock Slurm to begin with."""
    return Options(build=build, userland=debian13().root, units=2, hosts_per_unit=2,
                   settings={"TopologyPlugin": "topology/tree", "JobSubmitPlugins": "all_partitions"})


def test_the_emergency_line_alone(cluster):
    """With topology_rail.so gone slurmctld does not start; with the line changed by hand it does, and nobody else need start."""
    watched = Watched(cluster)
    conf, plugin = cluster.slurm.conf("ctl"), cluster.root / "plugins" / "topology_rail.so"
    stock, target = conf.read_text(), plugin.readlink()
    with Site(cluster) as site:
        railctl(cluster, "enable", "--apply", *site.flags())
        site.stop()
        plugin.unlink()
        try:
            site.start()
            wait_for(lambda: not cluster.alive("ctl", "slurmctld") and log_lines(cluster, "fatal: "), 90, "slurmctld to stop")
            conf.write_text(stock)
            site.start()
            wait_for(lambda: "UP" in cluster.run("scontrol", "ping").stdout, 90, "slurmctld", [cluster.log("ctl", "slurmctld")])
            equal(chooser(cluster), "topology/tree", "what chooses")
            watched.step()
        finally:
            plugin.symlink_to(target)
    watched.end()
