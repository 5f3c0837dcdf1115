"""topology_rail inside a real Slurm 25.05, where a root directory has one: the tests of 24.11, and wishes and spares."""

from newer_slurm import *  # noqa: F401,F403
from railcluster.userland import newer
from test_slurm2411 import programs_load_the_plugins, settings

NEEDS = ["railtopo"]


def options(build):
    return settings(build, newer(build, "25.05").root, "slurm-25.05")


def test_release(cluster):
    """The programs are those of Slurm 25.05, and each loads the plugins without a word."""
    programs_load_the_plugins(cluster, "25.05")
