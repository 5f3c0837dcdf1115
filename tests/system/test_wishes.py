"""What a job may ask of its place beyond a span: segments, spares, a wish that ends, and hosts that stay free.

test_slurm2411_wishes.py runs some of them on the other release.
"""

import contextlib

from railcluster import faults
from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import (asked, fields, fill, leave_five_free, look_at_all, refused, running_on, seconds_of,
                               state, submit, units_of, wait_for_resources, wait_state)
from railcluster.testing import check, equal, holds

NEEDS = ["railtopo", ".libs/select_rail.so", ".libs/job_submit_rail.so", ".libs/spank_rail.so"]
SETTINGS = {"SchedulerParameters":
            "bf_interval=1,bf_resolution=1,sched_interval=2,sched_min_interval=100000,defer_batch,batch_sched_delay=0"}


def options(build):
    return Options(build=build, settings=SETTINGS)


def shares(cluster, nodes):
    """How many of these nodes each unit has."""
    return [len(set(nodes) & set(unit)) for unit in cluster.units]


def test_segments_are_never_split(cluster):
    """Slurm alone would cut a segment in two wherever enough nodes are free; with the flag it waits for a whole one."""
    fillers = leave_five_free(cluster)
    first = submit(cluster, "-N8", "--rail-segment=4")
    equal(shares(cluster, running_on(cluster, first)), [4, 4], "two segments of four where each unit has five")
    cluster.out("scancel", first)
    wait_state(cluster, first, "CANCELLED")
    blocker = fill(cluster, cluster.units[0][7:])
    job = submit(cluster, "-N10", "--rail-segment=5")
    wait_for_resources(cluster, job)
    cluster.out("scancel", fillers[1])
    wait_state(cluster, fillers[1], "CANCELLED")
    for _ in range(2):
        look_at_all(cluster)
        equal(state(cluster, job), "PENDING", "two segments of five where the units have four and eight")
    cluster.out("scancel", blocker)
    equal(shares(cluster, running_on(cluster, job)), [5, 5], "two segments of five")


def test_segments_and_spares_of_a_range(cluster):
    """Of -N MIN-MAX a job gets the most nodes that make whole segments beside its spares, in its span."""
    nodes = running_on(cluster, submit(cluster, "-N4-12", "--rail-span=unit", "--rail-segment=3", "--rail-spares=1"))
    equal(sorted(shares(cluster, nodes)), [0, 7], "two segments of three and a spare")


def test_spares_lie_inside_the_allocation(cluster):
    """Spares are among the nodes asked for, and need no segment: the ranks' nodes stay together without them."""
    leave_five_free(cluster)
    out = cluster.root / "spares.out"
    job = submit(cluster, "-N6", "--rail-segment=4", "--rail-spares=2", "-o", str(out),
                 script="env | grep -E '^RAIL_(SPARES|NUM_NODES|NODELIST|SPARE_NODELIST)='; echo end; sleep 600")
    nodes = running_on(cluster, job)
    equal(sorted(shares(cluster, nodes)), [1, 5], "a segment of four, one spare beside it and one elsewhere")
    text = wait_for(lambda: out.exists() and "end" in out.read_text() and out.read_text(), 20, "the job's output")
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    ranks, spares = (cluster.out("scontrol", "show", "hostnames", values[name]).split()
                     for name in ("RAIL_NODELIST", "RAIL_SPARE_NODELIST"))
    equal((values["RAIL_SPARES"], values["RAIL_NUM_NODES"], len(ranks), len(spares)), ("2", "4", 4, 2), "the job's environment")
    equal((len(units_of(cluster, ranks)), sorted(ranks + spares)), (1, nodes), "the ranks' units, and all nodes")


def test_contradictions_are_refused(cluster):
    """What contradicts itself or this fabric ends at submission, with a sentence that names the way out."""
    cases = {
        "-N10 --rail-segment=4": "--rail-segment=4: does not divide 10 nodes: ask for 8 or 12 nodes",
        "-N10 --rail-segment=4 --rail-spares=1":
            "--rail-segment=4: does not divide 9 nodes (10 less 1 spares): ask for 9 or 13 nodes",
        "-N2 --rail-spares=2": "--rail-spares=2: of 2 nodes no node is left to run on: ask for more with --nodes",
        "-N9 --rail-segment=9": "--rail-segment=9: 9 nodes never fit",
        "-N8 --rail-segment=0": "--rail-segment=0: must be a whole number of hosts",
        "-N8 --rail-spares=-1": "--rail-spares=-1: must be a whole number of hosts",
        "-N9 --rail-span=unit --rail-spares=1": "--rail-span=unit: 9 nodes never fit, the largest unit of this fabric has 8",
        "-N17 --rail-span=fabric": "--rail-span=fabric: 17 nodes never fit, the whole fabric has 16",
        "-N17 --rail-span=unit@1h": "17 nodes never fit, the whole fabric has 16",
        "-N2 --rail-span=unit@soon": "--rail-span=unit@soon: soon: a wait is a time",
        "-N2 --rail-span=unit@0": "--rail-span=unit@0: 0: a wait is a time",
        "-N2 --rail-span=@1h": "--rail-span=@1h: must be domain, unit, pod or fabric, or one of these with @WAIT",
    }
    for words, sentence in cases.items():
        holds(refused(cluster, "sbatch", *words.split(), "--wrap", "true"), sentence, f"sbatch {words}")
    equal(cluster.out("squeue", "-h", "-t", "PD,R"), "", "jobs after refusals")


def test_what_exclusion_makes_impossible_is_refused(cluster):
    """Placement refuses at submission what no unit can hold of the nodes that -x and -w leave."""
    excluded = ",".join(node for unit in cluster.units for node in unit[:5])
    for words in (("-N4", "--rail-segment=4", "-x", excluded),
                  ("-N4", "--rail-span=unit", "-w", f"{cluster.units[0][0]},{cluster.units[1][0]}")):
        holds(refused(cluster, "salloc", *words, "true"), "Requested node configuration is not available", " ".join(words))
    equal(cluster.out("squeue", "-h", "-t", "PD,R"), "", "jobs after refusals")


def test_a_wish_ends(cluster):
    """With @WAIT a job waits for its span so long and not longer, and then runs anywhere."""
    leave_five_free(cluster)
    job = submit(cluster, "-N6", "--rail-span=unit@6s")
    equal(asked(cluster, job), "railyard: span=unit@6s", "comment")
    wait_for_resources(cluster, job, 6)
    equal(units_of(cluster, running_on(cluster, job)), {0, 1}, "units once the wish has ended")
    seen = fields(cluster, job)
    waited = seconds_of(seen["StartTime"]) - seconds_of(seen["SubmitTime"])
    check(6 <= waited <= 15, f"it waited for {waited} s")


def test_a_wish_is_kept_when_it_can_be(cluster):
    """A wish gets its span as soon as that is free, long before its end."""
    fillers = leave_five_free(cluster)
    job = submit(cluster, "-N6", "--rail-span=unit@1h")
    wait_for_resources(cluster, job)
    cluster.out("scancel", fillers[1])
    equal(units_of(cluster, running_on(cluster, job)), {1}, "units")


def test_small_jobs_do_not_starve_a_wish(cluster):
    """A queue of small jobs that backfill could start one after the other does not hold a job up beyond its WAIT."""
    leave_five_free(cluster)
    job = submit(cluster, "-N6", "--rail-span=unit@5s", "-t5")
    wait_for_resources(cluster, job, 5)
    small = [submit(cluster, "-N4", "-t1", script="sleep 3") for _ in range(12)]
    wait_state(cluster, job, "RUNNING", 25)
    states = [state(cluster, each) for each in small]
    check(states[0] != "PENDING" and states[-1] == "PENDING", f"the small jobs when the wish has ended: {states}")
    seen = fields(cluster, job)
    waited = seconds_of(seen["StartTime"]) - seconds_of(seen["SubmitTime"])
    check(waited <= 20, f"it waited for {waited} s")


@contextlib.contextmanager
def two_hosts_kept(cluster):
    """[placement] asks for a floor of two hosts: 16 hosts of which each fails every ten minutes for 40 s."""
    conf = cluster.agents.conf
    before = conf.read_text()

    def takes_all():
        """By submission's judgement, for the jobs with flags, and by placement's for all."""
        told = [cluster.run("sbatch", "--test-only", "-N16", *flags, "--wrap", "true").stderr
                for flags in (["--rail-span=fabric"], [])]
        return "kept free" not in told[0], "not available" not in told[1]
    try:
        conf.write_text(before.replace("[placement]\n", '[placement]\nspare_risk = 0.1\nrepair_time = "40s"\n'))
        wait_for(lambda: not any(takes_all()), 10, "the floor to count", [cluster.log("ctl", "slurmctld")])
        yield
    finally:
        conf.write_text(before)
        faults.restore(cluster)
        wait_for(lambda: all(takes_all()), 10, "the floor to be gone", [cluster.log("ctl", "slurmctld")])


def test_hosts_are_kept_free_for_restarts(cluster):
    """First starts leave the last healthy hosts alone; a job that is started again takes them; what never fits is told."""
    with two_hosts_kept(cluster):
        error = refused(cluster, "sbatch", "-N15", "--rail-span=fabric", "--wrap", "true")
        holds(error, "15 nodes never fit, 2 of the fabric's 16 hosts are kept free for restarts: ask for at most 14 nodes",
              "sentence")
        holds(refused(cluster, "sbatch", "-N15", "--wrap", "true"), "Requested node configuration is not available", "no flag")
        large = submit(cluster, "-N12")
        victim = running_on(cluster, large)[0]
        waits = submit(cluster, "-N3", "-t1")
        wait_for_resources(cluster, waits)
        equal(len(running_on(cluster, submit(cluster, "-N2", "-t1"))), 2, "nodes beside the two that are kept")
        equal(state(cluster, waits), "PENDING", "the job that would take one of the last two")
        cluster.out("scancel", waits)
        cluster.out("scontrol", "update", f"nodename={victim}", "state=drain", "reason=test")
        cluster.out("scontrol", "requeue", large)
        wait_for(lambda: (state(cluster, large), fields(cluster, large)["Restarts"]) == ("PENDING", "1"), 20, "the requeue")
        cluster.out("scontrol", "update", f"jobid={large}", "starttime=now+2")
        nodes = running_on(cluster, large)
        equal((len(nodes), victim in nodes), (12, False), "nodes of the restart: one of the two kept ones among them")


@contextlib.contextmanager
def oversubscribed(cluster):
    cluster.out("scontrol", "create", "partition=twice", "nodes=ALL", "oversubscribe=yes:2", "maxtime=unlimited")
    try:
        yield ["-p", "twice", "--oversubscribe"]
    finally:
        cluster.run("scancel", "--user=root", "--quiet")
        wait_for(lambda: not cluster.out("squeue", "-h"), 30, "the jobs to go")
        cluster.out("scontrol", "delete", "partition=twice")


def test_oversubscribed_nodes_have_room(cluster):
    """Where both jobs allow it, a span fits into a unit whose CPUs are all in use; an exclusive job's unit stays its own."""
    with oversubscribed(cluster) as flags:
        fill(cluster, cluster.units[1])
        whole = ("-N8", "-n128", "--ntasks-per-node=16")
        below = submit(cluster, *flags, *whole, "-w", ",".join(cluster.units[0]))
        wait_state(cluster, below, "RUNNING")
        equal(units_of(cluster, running_on(cluster, submit(cluster, *flags, *whole, "--rail-span=unit"))), {0}, "units")
        third = submit(cluster, *flags, *whole, "--rail-span=unit")
        wait_for_resources(cluster, third)


def test_a_gang_stays_in_its_reservation(cluster):
    """A gang in a reservation is placed among its nodes as on a fabric of its own, and waits for these alone; others are
    placed beside it."""
    first, second = cluster.units
    reserved = {*first[:5], *second[:3]}
    cluster.out("scontrol", "create", "reservation", "reservationname=gangs", "starttime=now", "duration=60", "user=root",
                f"nodes={','.join(sorted(reserved))}")
    try:
        inside = ("--reservation=gangs", "--rail-span=unit", "-t", "10")
        three = submit(cluster, "-N3", *inside)
        equal(set(running_on(cluster, three)), set(second[:3]), "the tightest unit of the reservation")
        four = submit(cluster, "-N4", *inside)
        check(set(running_on(cluster, four)) < set(first[:5]), "four in the reservation's other unit")
        # Each unit has nodes free beside the reservation, which are not for it.
        waits = submit(cluster, "-N5", *inside)
        for _ in range(2):
            look_at_all(cluster)
            equal(state(cluster, waits), "PENDING", "five in a unit where the reservation has four in use")
        others = running_on(cluster, submit(cluster, "-N4", "--rail-span=unit", "-t", "10"))
        check(set(others) <= set(second[3:]), f"a gang of no reservation on {others}")
        cluster.out("scancel", four)
        equal(set(running_on(cluster, waits)), set(first[:5]), "five once they are free")
    finally:
        cluster.out("scancel", "--user=root")
        wait_for(lambda: not cluster.out("squeue", "-h"), 60, "the jobs to go")
        cluster.out("scontrol", "delete", "reservationname=gangs")
