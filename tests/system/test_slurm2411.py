"""topology_rail inside a real Slurm 24.11, that of Debian 13: where gangs go, and what they wait for."""

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import (TIME, asked, fields, fill, leave_five_free, log_lines, nodes_of, refused,
                               restart_slurmctld, running_on, state, submit, units_of, wait_for_resources, wait_state)
from railcluster.testing import check, equal, holds
from railcluster.userland import debian13

NEEDS = ["railtopo", "second/.libs/topology_rail.so", "second/.libs/job_submit_rail.so", "second/.libs/spank_rail.so"]


def options(build):
    return settings(build, debian13().root)


def settings(build, root, plugins=""):
    """The cluster of the tests of each release that has a topology plugin."""
    return Options(build=build, userland=root, plugins=plugins, settings={
        "SchedulerParameters": "bf_interval=1,sched_interval=2,sched_min_interval=100000,defer_batch,batch_sched_delay=0"})


def test_release(cluster):
    """The programs are those of Slurm 24.11, and each loads the plugins without a word."""
    programs_load_the_plugins(cluster, "24.11")


def programs_load_the_plugins(cluster, release):
    holds(cluster.out("sinfo", "--version"), f" {release}.", "release")
    for command in (("sinfo",), ("squeue",), ("srun", "-Q", "-N1", "true"), ("scontrol", "show", "topology")):
        result = cluster.run(*command)
        equal((result.returncode, result.stderr), (0, ""), " ".join(command))


def test_jobs_stay_in_one_unit(cluster):
    """A gang goes where one unit holds it, the tightest that does."""
    fill(cluster, cluster.units[0][:3])
    fill(cluster, cluster.units[1][:1])
    equal(units_of(cluster, running_on(cluster, submit(cluster, "-N6", "--rail-span=unit"))), {1}, "units")
    equal(units_of(cluster, running_on(cluster, submit(cluster, "-N5", "--rail-span=unit"))), {0}, "units")


def test_span_waits_where_stock_spreads(cluster):
    """Where no unit has room now, a span waits for one, while others run around it."""
    fillers = leave_five_free(cluster)
    spread = submit(cluster, "-N6")
    equal(units_of(cluster, running_on(cluster, spread)), {0, 1}, "units without the flag")
    cluster.out("scancel", spread)
    wait_for(lambda: state(cluster, spread) == "CANCELLED", 20, "the spread job to go")
    job = submit(cluster, "-N6", "--rail-span=unit")
    wait_for_resources(cluster, job)
    small = submit(cluster, "-N2", "-t1")
    wait_state(cluster, small, "RUNNING")
    cluster.out("scancel", fillers[1])
    equal(units_of(cluster, running_on(cluster, job)), {1}, "units once one is free")


def test_waiting_jobs_get_an_estimate(cluster):
    """Backfill plans a spanned job for the moment its unit becomes free, not for the cluster's first free nodes."""
    soon = fill(cluster, cluster.units[0][:3], "-t", "20")
    late = fill(cluster, cluster.units[1][:3], "-t", "60")
    job = submit(cluster, "-N6", "--rail-span=unit", "-t", "10")
    found = wait_for(lambda: TIME.fullmatch(fields(cluster, job)["StartTime"]), 30, "an estimate").group()
    check(fields(cluster, soon)["EndTime"] <= found < fields(cluster, late)["EndTime"], f"estimated start {found}")
    planned = cluster.out("scontrol", "show", "hostnames", fields(cluster, job)["SchedNodeList"]).split()
    equal(units_of(cluster, planned), {0}, "planned units")
    cluster.out("scancel", soon)
    equal(units_of(cluster, running_on(cluster, job)), {0}, "units")


def test_impossible_spans_are_refused(cluster):
    """What can never run is refused at submission: by job_submit from the fabric, by placement from the nodes asked for."""
    error = refused(cluster, "sbatch", "-N12", "--rail-span=unit", "--wrap", "true")
    holds(error, "--rail-span=unit: 12 nodes never fit, the largest unit of this fabric has 8", "sentence")
    error = refused(cluster, "salloc", "-N8", "-x", cluster.nodes[0], "-w", cluster.nodes[1], "--rail-span=unit", "true")
    holds(error, "Requested node configuration is not available", "seven candidates in the unit of the required node")


def test_changes_speak_to_the_user(cluster):
    """scontrol update cannot make a job impossible, and this release passes the sentence on."""
    job = submit(cluster, "-N8", "--rail-span=unit", "--hold")
    holds(refused(cluster, "scontrol", "update", f"jobid={job}", "numnodes=12"), "12 nodes never fit", "scontrol's message")
    cluster.out("scontrol", "update", f"jobid={job}", "admincomment=asked by ops")
    equal(asked(cluster, job), "asked by ops; railyard: span=unit", "comment")


def test_required_and_excluded_nodes_count(cluster):
    """-w draws the span to its node; -x keeps nodes out."""
    job = submit(cluster, "-N3", "--rail-span=unit", "-w", cluster.units[1][6])
    nodes = running_on(cluster, job)
    equal((units_of(cluster, nodes), cluster.units[1][6] in nodes), ({1}, True), "required")
    excluded = cluster.units[0][:2]
    nodes = running_on(cluster, submit(cluster, "-N6", "--rail-span=unit", "-x", ",".join(excluded)))
    equal((units_of(cluster, nodes), set(nodes) & set(excluded)), ({0}, set()), "excluded")


def test_gangs_without_a_span_are_packed(cluster):
    """Without the flag a gang still gets the tightest unit, and never waits for one."""
    fill(cluster, cluster.units[0][:4])
    equal(units_of(cluster, running_on(cluster, submit(cluster, "-N4"))), {0}, "units")
    equal(len(running_on(cluster, submit(cluster, "-N8"))), 8, "nodes")


def test_drained_nodes_do_not_make_a_job_impossible(cluster):
    """A span that fits only with drained nodes waits, is not held, and runs once they are back."""
    drained = [node for unit in cluster.units for node in unit[:3]]
    cluster.out("scontrol", "update", f"nodename={','.join(drained)}", "state=drain", "reason=test")
    job = submit(cluster, "-N6", "--rail-span=unit")
    wait_for(lambda: fields(cluster, job)["Reason"] not in ("None", "Priority"), 20, "a reason")
    for _ in range(3):
        cluster.out("srun", "-N1", "true")  # its end lets the main scheduler look at all jobs
        seen = fields(cluster, job)
        check(seen["JobState"] == "PENDING" and seen["Priority"] != "0", f"{seen['JobState']}, {seen['Reason']}")
    cluster.out("scontrol", "update", f"nodename={cluster.units[1][0]}", "state=resume")
    equal(units_of(cluster, running_on(cluster, job)), {1}, "units")


def test_accepted_jobs_are_never_held(cluster):
    """What became impossible after submission waits, and runs once it is possible again."""
    job = submit(cluster, "-N8", "--rail-span=unit", "--begin=now+6")  # older by then than what is being submitted
    excluded = f"{cluster.units[0][0]},{cluster.units[1][0]}"
    cluster.out("scontrol", "update", f"jobid={job}", f"excnodelist={excluded}")

    def looked_at():
        cluster.out("srun", "-N1", "true")  # its end lets the main scheduler look at all jobs
        return fields(cluster, job)["Reason"] not in ("BeginTime", "None")
    wait_for(looked_at, 30, "the main scheduler to look at the job")
    seen = fields(cluster, job)
    equal((seen["JobState"], seen["Reason"], seen["Priority"] != "0"), ("PENDING", "Resources", True), "the job")
    cluster.out("scontrol", "update", f"jobid={job}", f"excnodelist={cluster.units[0][0]}")
    equal(units_of(cluster, running_on(cluster, job)), {1}, "units")


def test_requeued_jobs_keep_their_span(cluster):
    """A requeued job goes through the same choice, without the node it may not use again."""
    job = submit(cluster, "-N6", "--rail-span=unit", "--restart=auto")
    victim = running_on(cluster, job)[0]
    cluster.out("scontrol", "update", f"nodename={victim}", "state=drain", "reason=test")
    cluster.out("scontrol", "requeue", job)
    wait_for(lambda: (state(cluster, job), fields(cluster, job)["Restarts"]) == ("PENDING", "1"), 20, "the requeue")
    # A node refuses a job's new credential within the second in which it revoked the last one.
    cluster.out("scontrol", "update", f"jobid={job}", "starttime=now+2")
    nodes = running_on(cluster, job)
    equal((len(units_of(cluster, nodes)), victim in nodes), (1, False), "units")


def test_tasks_and_ranges(cluster):
    """Tasks fill whole nodes of one unit; a range of nodes takes what one unit has."""
    fill(cluster, cluster.units[0][:6])
    nodes = running_on(cluster, submit(cluster, "-n", "64", "--rail-span=unit"))
    equal((units_of(cluster, nodes), len(nodes)), ({1}, 4), "64 tasks of one CPU on nodes of 16")
    nodes = running_on(cluster, submit(cluster, "-N2-12", "--rail-span=unit"))
    equal((units_of(cluster, nodes), len(nodes)), ({1}, 4), "what is left of a unit")


def test_gpus_are_taken(cluster):
    """Cores and GRES are Slurm's choice among the nodes that were chosen."""
    job = submit(cluster, "-N4", "--gres=gpu:8", "--rail-span=unit")
    equal(len(units_of(cluster, running_on(cluster, job))), 1, "units")
    detail = cluster.out("scontrol", "-d", "show", "job", job)
    holds(detail, "GRES=gpu:8(IDX:0-7)", "allocation")
    job = submit(cluster, "--gpus=24", "--rail-span=unit")
    nodes = running_on(cluster, job)
    equal((len(units_of(cluster, nodes)), len(nodes)), (1, 3), "24 GPUs, on as many nodes as hold them")


def test_restart_and_reconfigure_lose_nothing(cluster):
    """slurmctld's restart and reconfiguration keep spans of running and pending jobs."""
    fillers = leave_five_free(cluster)
    running = submit(cluster, "-N4", "--rail-span=unit")
    nodes = running_on(cluster, running)
    job = submit(cluster, "-N6", "--rail-span=unit", "--begin=now+3")
    restart_slurmctld(cluster)
    equal((state(cluster, running), nodes_of(cluster, running)), ("RUNNING", nodes), "running job")
    cluster.out("scontrol", "reconfigure")
    equal(asked(cluster, job), "railyard: span=unit", "comment")
    wait_for_resources(cluster, job, 30)
    other = 1 - units_of(cluster, nodes).pop()
    cluster.out("scancel", fillers[other])
    equal(units_of(cluster, running_on(cluster, job)), {other}, "units")


def test_a_broken_fabric_keeps_the_last(cluster):
    """A broken file is told once and changes nothing; mended, it is taken up."""
    path = cluster.agents.fabric
    good = path.read_bytes()
    taken = len(log_lines(cluster, "topology/rail: fabric "))
    before = len(log_lines(cluster, "the last good fabric stays in use"))
    try:
        path.write_text('{"version": 1, "hosts": [')
        wait_for(lambda: len(log_lines(cluster, "the last good fabric stays in use")) >= before + 2, 10,
                 "both plugins to tell")
        leave_five_free(cluster)
        wait_for_resources(cluster, submit(cluster, "-N6", "--rail-span=unit"))
        equal(len(log_lines(cluster, "the last good fabric stays in use")) - before, 2, "lines, one from each plugin")
    finally:
        path.write_bytes(good)
    wait_for(lambda: len(log_lines(cluster, "topology/rail: fabric ")) > taken, 10, "the mended file to be read")


def test_without_a_fabric_slurm_decides(cluster):
    """slurmctld starts without the file, says so once, and places jobs as stock Slurm does."""
    path = cluster.agents.fabric
    away = path.with_suffix(".away")
    path.rename(away)
    try:
        before = len(log_lines(cluster, "nodes are chosen by Slurm alone"))
        restart_slurmctld(cluster)
        leave_five_free(cluster)
        equal(len(running_on(cluster, submit(cluster, "-N6", "--rail-span=unit"))), 6, "nodes")
        equal(len(log_lines(cluster, "nodes are chosen by Slurm alone")) - before, 2, "lines, one from each plugin")
    finally:
        away.rename(path)
    wait_for(lambda: log_lines(cluster, "topology/rail: fabric "), 10, "the file to be read")
