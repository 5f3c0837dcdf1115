"""railctl enable where a second slurmctld stands by: it would take over with the former slurm.conf."""

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.site import Site
from railcluster.testing import equal, holds
from test_enable import NEEDS, Watched, kept, railctl, running_with  # noqa: F401


def options(build):
    return Options(build, units=1, hosts_per_unit=2, backup=True,
                   settings={"SelectType": "select/cons_tres", "JobSubmitPlugins": "all_partitions"})


def test_the_backup_is_stopped_first(cluster):
    """Refused while the backup answers, done when it is stopped; then both run with the plugin, and jobs run on."""
    watched = Watched(cluster)
    conf = cluster.slurm.conf("ctl")
    before = conf.read_text()
    with Site(cluster) as site:
        text = railctl(cluster, "enable", "--apply", *site.flags(), status=1)
        holds(text, "slurmctld answers on ctl2", "what it says")
        equal((conf.read_text(), kept(cluster), [words for words in site.asked if words[0] == "service"]), (before, [], []),
              "what was touched")
        site.stop("ctl2")
        railctl(cluster, "enable", "--apply", *site.flags())
        watched.step()
        cluster.start_backup()
        holds(railctl(cluster, "enable"), "nothing to do", "with both")
        cluster.out("scontrol", "takeover", host="ctl2", timeout=60)
        wait_for(lambda: running_with(cluster, "SelectType") == "select/rail" and not cluster.alive("ctl", "slurmctld"), 60,
                 "the backup to take over", [cluster.log("ctl2", "slurmctld")])
        watched.step()
        holds(railctl(cluster, "disable", "--apply", *site.flags(), status=1), "slurmctld answers on ctl2", "while the backup acts")
        site.stop("ctl2")
        site.start()
        wait_for(lambda: "at ctl is UP" in cluster.run("scontrol", "ping").stdout, 60, "the first controller")
        railctl(cluster, "disable", "--apply", *site.flags())
        equal(conf.read_text(), before, "slurm.conf after both")
        watched.step()
        cluster.start_backup()
    watched.end()
