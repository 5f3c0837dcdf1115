"""Small jobs that spare whole units ([placement] pack = "all"), and gangs that take the place of the jobs that lose least.

Nodes without slurmds: jobs that get nodes stay CONFIGURING, and are preempted as if they ran.
"""

import json
import time

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import comment, fields, log_lines, nodes_of, state, submit, units_of
from railcluster.speed import slowness
from railcluster.testing import check, equal, holds

NEEDS = ["railtopo", ".libs/select_rail.so", ".libs/job_submit_rail.so", ".libs/spank_rail.so"]
PARTITIONS = "\nPartitionName=".join((
    "batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE",
    "high Nodes=ALL PriorityTier=9 MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE",
    "shared Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=NO",
    "spread Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=NO LLN=YES"))


def options(build):
    return Options(build=build, cloud=True, railyard={"placement.pack": '"all"'},
                   settings={"SelectTypeParameters": "CR_Core_Memory", "DefMemPerCPU": "1", "PartitionName": PARTITIONS, "PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE",
                             "PrivateData": "cloud", "SlurmctldDebug": "verbose",
                             "SchedulerParameters": "bf_interval=1,sched_interval=2,sched_min_interval=100000,defer_batch,"
                                                    "batch_sched_delay=0"})


def placed(cluster, *flags):
    """A job and the nodes that it gets."""
    job = submit(cluster, *flags)
    wait_for(lambda: state(cluster, job) == "CONFIGURING", 20, f"job {job} to have nodes", [cluster.log("ctl", "slurmctld")])
    return job, nodes_of(cluster, job)


def nodes(cluster, *flags):
    return placed(cluster, *flags)[1]


def test_jobs_of_one_node_spare_a_whole_unit(cluster):
    """Whole nodes go where fewer are free; a part of a node beside what runs there, and where that has no room elsewhere."""
    first, second = cluster.units
    # Nodes that were never up weigh more than others: all are equal once they are told to boot.
    cluster.out("scontrol", "update", f"nodename={','.join(cluster.nodes)}", "state=power_up")
    wait_for(lambda: set(cluster.node_states().values()) == {"idle#"}, 60, "nodes to boot", every=0.2)
    placed(cluster, "-N3", "-w", ",".join(second[:3]))
    equal([nodes(cluster, "-N1") for _ in range(3)], [[node] for node in second[3:6]], "jobs of one whole node")

    placed(cluster, "-p", "shared", "-n8", "-w", first[5])
    equal(nodes(cluster, "-p", "shared", "-n4"), [first[5]], "beside another job, though whole nodes are free")
    equal(nodes(cluster, "-p", "shared", "-n12"), [second[6]], "where four cores are not enough")
    placed(cluster, "-p", "shared", "-n4", "--mem-per-cpu=200", "-w", first[6])
    # Twelve cores are free there, but too little memory, which Slurm alone adds up: it runs all the same.
    equal(nodes(cluster, "-p", "shared", "-n6", "--mem-per-cpu=100"), [second[7]], "where Slurm finds no room on the node in use")
    equal(len(log_lines(cluster, "of unit su2 that is idle")), 5, "idle nodes of su2 in the log")
    # Jobs that are to spread are left to Slurm, and a gang gets the unit that was spared.
    check(nodes(cluster, "-p", "spread", "-n2") != [first[5]], "a job of a partition that spreads is packed")
    equal(units_of(cluster, nodes(cluster, "-N2")), {0}, "a gang where the second unit is full")


def started(cluster, wanted):
    job, _ = placed(cluster, f"-N{len(wanted)}", "-w", ",".join(wanted), "--requeue")
    time.sleep(1.2)  # the next one starts in a later second
    return job


def test_a_gang_preempts_the_least_work_at_risk(cluster):
    """First the job that was started last; then one that has just written a checkpoint, however long it runs."""
    first, second = cluster.units
    oldest, *others, newest = [started(cluster, part) for part in (first[:4], first[4:], second[:4], second[4:])]
    gang, where = placed(cluster, "-p", "high", "-N4", "--rail-span=unit")
    equal(where, second[4:], "the place of the job that was started last")
    equal((state(cluster, newest), fields(cluster, newest)["Restarts"]), ("PENDING", "1"), "the one that lost least")
    chosen = f"takes the place of 1 of 4 jobs that may be preempted, {newest} (4 nodes, "
    holds(comment(cluster, gang), f"railyard-preempted: {chosen}", "gang's comment")
    holds(comment(cluster, gang), "since its start): 0.0 node-hours of work at risk, no others that may go make room for less",
          "gang's comment")
    holds(comment(cluster, newest), f"railyard-preempted: job {gang} {chosen}", "comment of the one that went")

    # As restartd writes it.
    health = cluster.root / "state" / "health.json"
    now = int(time.time())
    health.write_text(json.dumps({"v": 1, "written": now, "hosts": {}, "saved": {oldest: now}}))
    time.sleep(2.5 * slowness())  # slurmctld looks at the file once a second
    gang, where = placed(cluster, "-p", "high", "-N4")
    equal(where, first[:4], "the place of the job that saved last")
    holds(comment(cluster, gang), f"1 of 3 jobs that may be preempted, {oldest} (4 nodes, ", "gang's comment")
    holds(comment(cluster, gang), "since its checkpoint", "gang's comment")
    equal([state(cluster, job) for job in others], ["CONFIGURING"] * 2, "the others")
    # Two units are wanted: all that is left to take. What may not be preempted stays.
    refused = submit(cluster, "-p", "high", "-N12")
    time.sleep(2.5 * slowness())
    equal(state(cluster, refused), "PENDING", "a gang for which there is no room even without them")
    equal([state(cluster, job) for job in others], ["CONFIGURING"] * 2, "the others")
