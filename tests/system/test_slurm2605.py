"""topology_rail inside a real Slurm 26.05, where a root directory has one: the tests of 24.11, and wishes and spares."""

from newer_slurm import *  # noqa: F401,F403
from railcluster.process import wait_for
from railcluster.testing import equal
from railcluster.userland import newer
from test_slurm2411 import programs_load_the_plugins, settings

NEEDS = ["railtopo"]


def options(build):
    return settings(build, newer(build, "26.05").root, "slurm-26.05")


def test_release(cluster):
    """The programs are those of Slurm 26.05, and each loads the plugins without a word."""
    programs_load_the_plugins(cluster, "26.05")


def test_ranks_go_unit_by_unit(cluster):
    """srun numbers tasks in the fabric's order, not in that of Slurm's node table or topology.conf."""
    path = cluster.agents.fabric
    good = path.read_text()
    inside, outside = cluster.units[0][1], cluster.units[1][0]
    other = good.replace(f'"{inside}"', '"@"').replace(f'"{outside}"', f'"{inside}"').replace('"@"', f'"{outside}"')
    asked = [cluster.units[0][0], inside, cluster.units[0][2], outside]

    def by_rank():
        # Of as many tasks as nodes srun's own choice is cyclic, in the order of the node table.
        told = cluster.out("srun", "-N4", "-n4", "-m", "block", "-l", "-w", ",".join(asked), "printenv", "SLURMD_NODENAME")
        return [line.split(": ")[1] for line in sorted(told.splitlines())]
    equal(by_rank(), asked, "nodes by rank")
    try:
        path.write_text(other)  # these two have changed places
        wanted = [asked[0], asked[2], outside, inside]  # within a unit by name
        wait_for(lambda: by_rank() == wanted, 30, f"the ranks to go by the other fabric: {' '.join(wanted)}")
    finally:
        path.write_text(good)
    wait_for(lambda: by_rank() == asked, 30, "the ranks to go by the first one again")
