"""What restartd knows against a host, placement heeds: softly."""

from pathlib import Path

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import told
from railcluster.testing import check, equal

from test_placement import placed, submit

NEEDS = [".libs/select_rail.so", ".libs/spank_rail.so", ".libs/job_submit_rail.so", "restartd", "nodewatchd"]


def options(build: Path) -> Options:
    # No reason to throttle evicts here: each is a warning.
    return Options(build=build, railyard={"throttle.reasons": "[]", "throttle.clear": '"1s"'})


def test_a_weak_host_is_taken_last(cluster):
    weak = cluster.units[0][0]
    first = submit(cluster, 2, "--rail-span=unit")
    check(weak in placed(cluster, first), f"{weak} is not what a job gets first")
    cluster.out("scancel", first)
    wait_for(lambda: cluster.node_states()[weak].startswith("idle"), 20, f"{weak} to be idle")
    with told(cluster, f"avoided where there is a choice: {weak}", exactly=False):
        cluster.power_brake(weak, 3, True)
    beside = placed(cluster, submit(cluster, 2, "--rail-span=unit"))
    check(weak not in beside, f"{weak} has throttled GPUs and was taken beside sound hosts: {beside}")
    rest = placed(cluster, submit(cluster, len(cluster.nodes) - 2))
    check(weak in rest, f"{weak} was not taken where there is no choice: {rest}")
    check(not cluster.node_states()[weak].startswith("drain"), f"{weak} was drained")
    with told(cluster, "no host is to be avoided", exactly=False):
        cluster.power_brake(weak, 3, False)
    equal(cluster.out("scontrol", "ping").split()[-1], "UP", "slurmctld")
