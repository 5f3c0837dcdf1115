"""topology.yaml in a real Slurm 25.11: two topologies, and Railyard's plugins under the names of Slurm's own."""

from dataclasses import replace

from railcluster.process import wait_for
from railcluster.queue import fill, log_lines, running_on, state, submit, units_of, wait_for_resources
from railcluster.testing import check, equal, holds
from railcluster.userland import newer
from test_slurm2411 import programs_load_the_plugins, settings

NEEDS = ["railtopo"]
# The first two of four units are a tree, the others blocks; each partition could have all nodes.
TOPOLOGIES = """\
---
- topology: left
  cluster_default: true
  tree:
    switches:
      - switch: top
        children: s[1-2]
      - switch: s1
        nodes: n[001-004]
      - switch: s2
        nodes: n[005-008]
- topology: right
  cluster_default: false
  block:
    block_sizes: [4, 8]
    blocks:
      - block: b1
        nodes: n[009-012]
      - block: b2
        nodes: n[013-016]
- topology: plain
  cluster_default: false
  flat: true
"""
PARTITIONS = "\nPartitionName=".join(
    f"{name} Nodes=ALL Topology={name} MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE{more}"
    for name, more in (("left", " Default=YES"), ("right", ""), ("plain", "")))


def options(build):
    return named(build, "25.11")


def named(build, release):
    """The cluster of the tests of each release that knows topology.yaml."""
    usual = settings(build, newer(build, release).root, f"slurm-{release}")
    return replace(usual, units=4, hosts_per_unit=4, topology_yaml=TOPOLOGIES,
                   settings={**usual.settings, "PartitionName": PARTITIONS})


def test_they_stand_in_for_slurms_own(cluster):
    """slurmctld and the commands load them, each before Slurm's own of that name, and show the topologies of the file."""
    release = cluster.out("sinfo", "--version").split()[-1].rpartition(".")[0]
    programs_load_the_plugins(cluster, release)
    for kind in ("tree", "block", "flat"):
        check(log_lines(cluster, f"topology/{kind}: Railyard chooses nodes"), f"a line of topology/{kind}")
        equal(len(log_lines(cluster, f"topology/{kind}: fabric ")) >= 1, True, f"the fabric of topology/{kind}")
    equal(log_lines(cluster, "--rail-span is checked but not kept"), [], "job_submit's complaint")
    holds(cluster.out("scontrol", "show", "topology"), "SwitchName=s1 Level=0", "the file's first topology")


def test_spans_are_kept_in_each_topology(cluster):
    """A unit of the job's own topology, the tightest that holds it; with none free it waits, whatever is free elsewhere."""
    fill(cluster, [cluster.units[0][1]], "-p", "left")
    fill(cluster, [cluster.units[3][2]], "-p", "right")
    first = submit(cluster, "-N4", "-p", "left", "--rail-span=unit")
    equal(units_of(cluster, running_on(cluster, first)), {1}, "units of the tree")
    second = submit(cluster, "-N4", "-p", "right", "--rail-span=unit")
    equal(units_of(cluster, running_on(cluster, second)), {2}, "units of the blocks")
    cluster.out("scancel", second)
    wait_for(lambda: state(cluster, second) == "CANCELLED", 20, "the job in the blocks to go")
    waiting = submit(cluster, "-N4", "-p", "left", "--rail-span=unit")
    wait_for_resources(cluster, waiting)
    small = submit(cluster, "-N3", "-p", "right", "--rail-span=unit")
    equal(units_of(cluster, running_on(cluster, small)), {3}, "the tightest unit of the blocks")
    cluster.out("scancel", first)
    equal(units_of(cluster, running_on(cluster, waiting)), {1}, "units once one is free")


def test_all_nodes_are_one_flat_topology(cluster):
    """Where the file names neither switches nor blocks, units are the fabric's, all of them."""
    fill(cluster, [unit[0] for unit in cluster.units[:3]], "-p", "plain")
    job = submit(cluster, "-N4", "-p", "plain", "--rail-span=unit")
    equal(units_of(cluster, running_on(cluster, job)), {3}, "units")


def test_gangs_without_a_span_are_packed(cluster):
    """Without the flag, too, a gang gets the tightest place of its topology."""
    fill(cluster, cluster.units[0][:1], "-p", "left")
    equal(units_of(cluster, running_on(cluster, submit(cluster, "-N3", "-p", "left"))), {0}, "units")


def test_nodes_that_move_count_at_once(cluster):
    """A node that scontrol moves to the other topology serves jobs there, and no longer where it was."""
    moved = cluster.units[1][3]
    cluster.out("scontrol", "update", f"nodename={moved}", "topology=right:b2,plain:")
    try:
        job = submit(cluster, "-N8", "-p", "left", "--rail-span=pod", "--hold")
        cluster.out("scancel", job)
        fill(cluster, cluster.units[2] + cluster.units[3], "-p", "right")
        equal(running_on(cluster, submit(cluster, "-N1", "-p", "right")), [moved], "a node of the blocks")
    finally:
        cluster.out("scontrol", "update", f"nodename={moved}", "topology=left:top:s2,plain:")


def test_reconfiguration_keeps_them(cluster):
    """After scontrol reconfigure the topologies are those of the file, and spans are kept as before."""
    cluster.out("scontrol", "reconfigure")
    fill(cluster, [cluster.units[0][1]], "-p", "left")
    job = submit(cluster, "-N4", "-p", "left", "--rail-span=unit")
    equal(units_of(cluster, running_on(cluster, job)), {1}, "units")
