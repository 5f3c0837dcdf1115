"""Those of test_life.py in which Slurm 24.11 and topology_rail have a part of their own."""

from railcluster.cluster import Options
from railcluster.userland import debian13
from test_life import changes_of_nodes, failover, lost_and_back
from test_slurm2411 import NEEDS, options  # noqa: F401


def test_failover_to_the_backup_controller(build):
    """The second controller has the fabric and the flags."""
    made = options(build)
    failover(Options(build=build, userland=made.userland, hosts_per_unit=4, backup=True,
                     settings={**made.settings, "SlurmctldTimeout": "4"}))


def test_nodes_come_and_go(build):
    """Nodes are taken away and added, with slurm.conf and a restart, and by scontrol: spans follow at once."""
    changes_of_nodes(Options(build=build, cloud=True, userland=debian13().root,
                             settings={**options(build).settings, "MaxNodeCount": "32"}))


def test_lost_and_back(cluster):
    """Slurm 24.11 forgets as 22.05 does that the host is no longer held whole."""
    lost_and_back(cluster)
