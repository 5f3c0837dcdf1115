"""Those of test_wishes.py in which Slurm 24.11 and topology_rail have a part of their own."""

from railcluster.process import wait_for
from railcluster.queue import asked, fill, leave_five_free, refused, running_on, submit, wait_for_resources, wait_state
from railcluster.testing import check, equal, holds
from test_slurm2411 import NEEDS, options  # noqa: F401
from test_wishes import (test_a_gang_stays_in_its_reservation, test_hosts_are_kept_free_for_restarts, test_oversubscribed_nodes_have_room,  # noqa: F401
                         test_segments_are_never_split, test_small_jobs_do_not_starve_a_wish,
                         test_spares_lie_inside_the_allocation, test_what_exclusion_makes_impossible_is_refused)
from test_wishes import shares


def test_the_other_hosts_are_kept(cluster):
    """What restartd writes of a job's last start keeps it there, with another node of that unit for the one that is excluded,
    though in the other unit nothing would be left over; of an older start it says nothing."""
    first, second = cluster.units
    beside, other = fill(cluster, first[4:]), fill(cluster, second)
    job = submit(cluster, "-N4", "--requeue")
    had = running_on(cluster, job)
    equal(had, first[:4], "nodes of the first start")
    for filler in (beside, other):
        cluster.out("scancel", filler)
        wait_state(cluster, filler, "CANCELLED")
    fill(cluster, second[:4])

    def again(start):
        cluster.out("scontrol", "requeuehold", job)
        wait_for(lambda: not cluster.out("squeue", "-h", "-j", job, "-t", "CG,R"), 30, "the job to wait")
        # A node refuses a job's new credential within the second in which it revoked the last one.
        wait_for(lambda: cluster.run("scontrol", "update", f"jobid={job}", f"excnodelist={had[1]}", "starttime=now+2",
                                     f"admincomment=railyard-had: start={start} {','.join(had)}").returncode == 0, 30, "the change")
        cluster.out("scontrol", "release", job)
        return set(running_on(cluster, job))

    nodes = again(0)
    check(set(had) - {had[1]} < nodes < set(first), f"{had} became {nodes}")
    equal(again(0), set(second[4:]), "nodes by what was written of an older start")


def test_slurms_own_segment_counts_as_ours(cluster):
    """sbatch --segment, which stock Slurm without blocks passes over, keeps groups of nodes in one unit; what contradicts
    ours, or does not divide the nodes, is refused with a sentence."""
    leave_five_free(cluster)
    job = submit(cluster, "-N8", "--segment=4")
    equal(shares(cluster, running_on(cluster, job)), [4, 4], "two segments of four where each unit has five")
    equal(asked(cluster, job), "railyard: segment=4", "admin_comment")
    cluster.out("scancel", job)
    fill(cluster, cluster.units[0][7:])
    wait_for_resources(cluster, submit(cluster, "-N10", "--segment=5"))
    script = ("--wrap", "true")
    holds(refused(cluster, "sbatch", "-N8", "--segment=4", "--rail-segment=2", *script),
          "--segment=4 and --rail-segment=2 contradict each other", "both")
    holds(refused(cluster, "sbatch", "-N9", "--segment=4", *script),
          "--segment=4 counts as --rail-segment=4: --rail-segment=4: does not divide 9 nodes", "nine nodes")
    equal(asked(cluster, submit(cluster, "-n2", "--segment=4")), "", "admin_comment without --nodes")


def test_exclusive_topo_needs_a_topology(cluster):
    """Without switches or blocks in topology.conf stock Slurm accepts --exclusive=topo and keeps nothing: it is refused
    with a sentence. With them it is Slurm's."""
    script = ("--wrap", "true")
    running_on(cluster, submit(cluster, "-N2", "--exclusive=topo"))
    topology = cluster.root / "etc" / "topology.conf"
    switches = topology.read_text()
    topology.write_text("# no switches\n")
    try:
        holds(refused(cluster, "sbatch", "-N2", "--exclusive=topo", *script),
              "--exclusive=topo: Slurm has no topology.conf here", "refusal")
        submit(cluster, "-N2", "--exclusive")
    finally:
        topology.write_text(switches)
