"""The plugins inside Slurm: flags on their way to the controller, and the controller's choice of nodes."""

import contextlib
import json
import tempfile
import time
from pathlib import Path

from railcluster.process import wait_for
from railcluster.queue import (TIME, asked, comment, fields, fill, leave_five_free, log_lines, nodes_of, refused,
                               restart_slurmctld, running_on, state, submit, units_of, wait_state)
from railcluster.speed import slowness
from railcluster.testing import check, equal, holds, skip

NEEDS = ["railtopo", "railckpt", ".libs/select_rail.so", ".libs/job_submit_rail.so", ".libs/spank_rail.so"]


def test_flags_stand_in_help(cluster):
    """sbatch, salloc and srun tell of the flags."""
    for command in ("sbatch", "salloc", "srun"):
        text = cluster.out(command, "--help")
        for flag in ("--rail-span=domain|unit|pod|fabric[@WAIT]", "--rail-segment=N[:N...]", "--rail-spares=K", "--rail-order=ring|tree|none", "--ckpt-dir=DIR", "--restart=auto|never"):
            holds(text, flag, f"{command} --help")


def test_commands_are_silent(cluster):
    """The plugins load into every command without a word."""
    for command in (("sinfo",), ("squeue",), ("srun", "-Q", "-N1", "true"), ("scontrol", "show", "node", cluster.nodes[0])):
        result = cluster.run(*command)
        equal((result.returncode, result.stderr), (0, ""), " ".join(command))


def test_bad_values_are_refused(cluster):
    """A bad value ends the command with a sentence that names flag, value and what is allowed."""
    cases = {"--rail-span=rack": "--rail-span=rack: must be domain, unit, pod or fabric, or one of these with @WAIT",
             "--restart=yes": "--restart=yes: must be auto or never",
             "--ckpt-dir=run7": "--ckpt-dir=run7: must be an absolute path"}
    for flag, sentence in cases.items():
        holds(refused(cluster, "sbatch", flag, "--wrap", "true"), sentence, f"sbatch {flag}")
        holds(refused(cluster, "salloc", flag, "true"), sentence, f"salloc {flag}")
        holds(refused(cluster, "srun", flag, "true"), sentence, f"srun {flag}")
    equal(cluster.out("squeue", "-h"), "", "jobs after refusals")


def test_environment_gives_defaults(cluster):
    """RAIL_SPAN and its like are defaults; the command line beats them; a bad one is refused."""
    job = submit(cluster, "-N2", env={"RAIL_SPAN": "pod", "RAIL_RESTART": "never"})
    equal(asked(cluster, job), "railyard: span=pod restart=never", "comment from the environment")
    job = submit(cluster, "-N2", "--rail-span=unit", env={"RAIL_SPAN": "pod"})
    equal(asked(cluster, job), "railyard: span=unit", "comment from flag over environment")
    error = refused(cluster, "sbatch", "--wrap", "true", env={"RAIL_SPAN": "rack"})
    holds(error, "--rail-span=rack: must be domain, unit, pod or fabric, or one of these with @WAIT", "bad RAIL_SPAN")


def test_settings_reach_the_tasks(cluster):
    """Batch script and tasks find the settings and the agent's socket in their environment."""
    script = "env | grep ^RAIL_ | sort; srun -N2 sh -c 'env | grep ^RAIL_ | sort'"
    job = submit(cluster, "-N2", "--rail-span=unit", "--ckpt-dir=/scratch/run 7", "--restart=auto", script=script)
    wait_state(cluster, job, "COMPLETED")
    out = (cluster.root / f"{job}.out").read_text()
    for line in ("RAIL_SPAN=unit\n", "RAIL_CKPT_DIR=/scratch/run 7\n", "RAIL_RESTART=auto\n"):
        equal(out.count(line), 3, f"{line!r} in the script and two tasks:\n{out}")
    equal(out.count("RAIL_CKPT_SOCKET=/"), 3, f"sockets:\n{out}")
    equal(asked(cluster, job), "railyard: span=unit restart=auto ckpt-dir=/scratch/run%207", "comment")


def test_restart_makes_jobs_requeuable(cluster):
    """--restart=auto asks for requeueing, and contradicts --no-requeue."""
    equal(fields(cluster, submit(cluster, "--restart=auto"))["Requeue"], "1", "Requeue")
    equal(fields(cluster, submit(cluster, "--no-requeue"))["Requeue"], "0", "Requeue without our flags")
    holds(refused(cluster, "sbatch", "--restart=auto", "--no-requeue", "--wrap", "true"), "--no-requeue", "contradiction")
    result = cluster.run("srun", "--restart=auto", "true")
    holds(result.stderr, "only batch jobs", "a note for srun")
    equal(result.returncode, 0, "srun --restart=auto")


def test_impossible_spans_are_refused(cluster):
    """A span that can never hold the job is refused at once, with the way out."""
    error = refused(cluster, "sbatch", "-N12", "--rail-span=unit", "--wrap", "true")
    holds(error, "--rail-span=unit: 12 nodes never fit, the largest unit of this fabric has 8", "sentence")
    holds(error, "--rail-span=pod", "way out")
    error = refused(cluster, "salloc", "-N8", "-x", cluster.nodes[0], "-w", cluster.nodes[1], "--rail-span=unit", "true")
    holds(error, "Requested node configuration is not available", "seven candidates in the unit of the required node")


def test_change_beyond_the_span_is_refused(cluster):
    """scontrol update cannot make a job impossible, and a new admin comment keeps our part."""
    job = submit(cluster, "-N8", "--rail-span=unit", "--hold")
    check(cluster.run("scontrol", "update", f"jobid={job}", "numnodes=12").returncode != 0, "12 nodes in a unit of 8")
    cluster.out("scontrol", "update", f"jobid={job}", "admincomment=asked by ops")
    equal(asked(cluster, job), "asked by ops; railyard: span=unit", "comment")
    cluster.out("scontrol", "update", f"jobid={job}", "admincomment=railyard: span=pod")
    equal(asked(cluster, job), "railyard: span=pod", "comment")


def test_jobs_stay_in_one_unit(cluster):
    """Six nodes within a unit where only one unit has six free, and the fuller unit is the better fit."""
    fill(cluster, cluster.units[0][:3])
    fill(cluster, cluster.units[1][:1])
    equal(units_of(cluster, running_on(cluster, submit(cluster, "-N6", "--rail-span=unit"))), {1}, "units")
    equal(units_of(cluster, running_on(cluster, submit(cluster, "-N5", "--rail-span=unit"))), {0}, "units")


def test_span_waits_where_stock_spreads(cluster):
    """On a fragmented cluster stock placement spans units at once; a span of a unit waits for one."""
    fillers = leave_five_free(cluster)
    spread = submit(cluster, "-N6")
    equal(units_of(cluster, running_on(cluster, spread)), {0, 1}, "units without the flag")
    cluster.out("scancel", spread)
    wait_for(lambda: state(cluster, spread) == "CANCELLED", 20, "the spread job to go")
    job = submit(cluster, "-N6", "--rail-span=unit")
    wait_for(lambda: fields(cluster, job)["Reason"] == "Resources", 20, "the job to wait for resources")
    small = submit(cluster, "-N2", "-t1")  # backfill goes on around it
    cluster.out("scancel", fillers[1])
    equal(units_of(cluster, running_on(cluster, job)), {1}, "units once one is free")
    wait_state(cluster, small, "RUNNING")


def test_waiting_jobs_get_an_estimate(cluster):
    """Backfill plans a spanned job for the moment its unit becomes free, not for the cluster's first free nodes."""
    soon = fill(cluster, cluster.units[0][:3], "-t", "20")
    late = fill(cluster, cluster.units[1][:3], "-t", "60")
    job = submit(cluster, "-N6", "--rail-span=unit", "-t", "10")
    found = wait_for(lambda: TIME.fullmatch(fields(cluster, job)["StartTime"]), 30, "an estimate")
    equal(found.group(), fields(cluster, soon)["EndTime"], "estimated start")
    check(found.group() < fields(cluster, late)["EndTime"], "the later end is not waited for")
    planned = cluster.out("scontrol", "show", "hostnames", fields(cluster, job)["SchedNodeList"]).split()
    equal(units_of(cluster, planned), {0}, "planned units")
    cluster.out("scancel", soon)
    equal(units_of(cluster, running_on(cluster, job)), {0}, "units")


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


def test_drained_nodes_are_passed_over(cluster):
    """A unit whose nodes are drained is not chosen for them."""
    cluster.out("scontrol", "update", f"nodename={','.join(cluster.units[0][:3])}", "state=drain", "reason=test")
    equal(units_of(cluster, running_on(cluster, submit(cluster, "-N6", "--rail-span=unit"))), {1}, "units")


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


def test_a_broken_fabric_keeps_the_last(cluster):
    """A broken file is told once and changes nothing; mended, it is taken up."""
    path = cluster.agents.fabric
    good = path.read_bytes()
    before = len(log_lines(cluster, "the last good fabric stays in use"))
    try:
        path.write_text('{"version": 1, "hosts": [')
        wait_for(lambda: len(log_lines(cluster, "select/rail")) and
                 len(log_lines(cluster, "the last good fabric stays in use")) > before, 10, "the log to tell")
        leave_five_free(cluster)
        job = submit(cluster, "-N6", "--rail-span=unit")
        wait_for(lambda: fields(cluster, job)["Reason"] == "Resources", 20, "the job to wait for resources")
        told = log_lines(cluster, "the last good fabric stays in use")[before:]
        equal(sorted(line.split("] ")[-1].split(":")[1].strip() for line in told), ["job_submit/rail", "select/rail"],
              "one line from each plugin")
    finally:
        path.write_bytes(good)
    wait_for(lambda: log_lines(cluster, "select/rail: fabric ")[-1] > told[-1], 10, "the mended file to be read")


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
    wait_for(lambda: log_lines(cluster, "select/rail: fabric "), 10, "the file to be read")


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
    wait_for(lambda: fields(cluster, job)["Reason"] == "Resources", 30, "the job to wait for resources")
    other = 1 - units_of(cluster, nodes).pop()
    cluster.out("scancel", fillers[other])
    equal(units_of(cluster, running_on(cluster, job)), {other}, "units")


@contextlib.contextmanager
def shared_partition(cluster):
    """A partition whose nodes are shared by jobs, for as long as the block runs."""
    cluster.out("scontrol", "create", "partition=shared", "nodes=ALL", "oversubscribe=no", "maxtime=unlimited")
    try:
        yield ["-p", "shared"]
    finally:
        cluster.run("scancel", "--user=root", "--quiet")
        wait_for(lambda: not cluster.out("squeue", "-h"), 30, "the jobs to go")
        cluster.out("scontrol", "delete", "partition=shared")


def test_shared_nodes_count_as_far_as_they_have_room(cluster):
    """Where jobs share nodes, CPUs and GPUs in use decide whether a unit has room for a span."""
    with shared_partition(cluster) as shared:
        for node in cluster.units[0][:3]:  # half of three nodes' CPUs, and all GPUs of one
            job = submit(cluster, *shared, "-N1", "-n8", "-w", node, *(["--gres=gpu:8"] if node == cluster.nodes[0] else []))
            wait_state(cluster, job, "RUNNING")
        whole = submit(cluster, *shared, "-N6", "-n96", "--ntasks-per-node=16", "--rail-span=unit")
        equal(units_of(cluster, running_on(cluster, whole)), {1}, "units of whole nodes")
        half = submit(cluster, *shared, "-N8", "--ntasks-per-node=8", "--rail-span=unit")
        equal(units_of(cluster, running_on(cluster, half)), {0}, "units of half nodes")
        cluster.out("scancel", half, whole)
        gpus = submit(cluster, *shared, "-N8", "--gres=gpu:8", "--rail-span=unit")
        equal(units_of(cluster, running_on(cluster, gpus)), {1}, "units with all GPUs")
        more = submit(cluster, *shared, "-N8", "--gres=gpu:8", "--rail-span=unit")
        wait_for(lambda: TIME.fullmatch(fields(cluster, more)["StartTime"]), 30, "an estimate")
        equal(state(cluster, more), "PENDING", "a second job for all GPUs of a unit")


def test_tasks_without_nodes_stay_in_the_span(cluster):
    """A job that asks for tasks only gets as many nodes as they fill, within its span."""
    with shared_partition(cluster) as shared:
        fill(cluster, cluster.units[0][:6])
        nodes = running_on(cluster, submit(cluster, *shared, "-n", "64", "--rail-span=unit"))
        equal((units_of(cluster, nodes), len(nodes)), ({1}, 4), "64 tasks of one CPU on nodes of 16")
        error = refused(cluster, "sbatch", *shared, "-n", "200", "--rail-span=unit", "--wrap", "true")
        holds(error, "Requested node configuration is not available", "more tasks than a unit has CPUs")


def test_a_range_of_nodes_takes_what_the_span_holds(cluster):
    """-N MIN-MAX gets the most nodes that one unit has free."""
    fill(cluster, cluster.units[0][:2])
    fill(cluster, cluster.units[1][:4])
    nodes = running_on(cluster, submit(cluster, "-N2-12", "--rail-span=unit"))
    equal((units_of(cluster, nodes), len(nodes)), ({0}, 6), "nodes")


def test_immediate_jobs_do_not_spread(cluster):
    """salloc --immediate with a span that is not free fails at once instead of spreading."""
    leave_five_free(cluster)
    error = refused(cluster, "salloc", "-N6", "--rail-span=unit", "--immediate=1", "true")
    check("Granted" not in error, f"granted: {error}")


@contextlib.contextmanager
def preempting(cluster):
    """Partitions high and low, of which the one preempts the jobs of the other, for as long as the block runs."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: each has a slurm.conf of its own")
    conf = cluster.slurm.conf("ctl")
    before = conf.read_text()
    partition = "Nodes=ALL OverSubscribe=EXCLUSIVE"
    try:
        conf.write_text(f"{before}PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
                        f"PartitionName=low PriorityTier=1 {partition}\nPartitionName=high PriorityTier=9 {partition}\n")
        restart_slurmctld(cluster)
        yield
        cluster.run("scancel", "--user=root", "--quiet")
        wait_for(lambda: not cluster.out("squeue", "-h"), 30, "the jobs to go")
    finally:
        conf.write_text(before)
        restart_slurmctld(cluster)


def test_preemption_takes_one_unit_and_the_least_work(cluster):
    """Who may preempt takes the nodes of one unit and leaves the other alone; and the place of a job that has just saved,
    as its own railckpt told nodewatchd, restartd and by the health file slurmctld, though it has run the longest."""
    with preempting(cluster):
        halves = [nodes for unit in cluster.units for nodes in (unit[:4], unit[4:])]
        (cluster.root / "scratch").mkdir(exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=cluster.root / "scratch"))
        (folder / "ck").mkdir()
        script = (f"cd {folder}; echo weights >state; until [ -e go ]; do sleep 0.1; done; "
                  f"{cluster.options.build}/railckpt commit --step 1 state; sleep 600")
        saving = submit(cluster, "-p", "low", "-N4", "-w", ",".join(halves[0]), "--requeue", f"--ckpt-dir={folder}/ck",
                        script=script)
        wait_state(cluster, saving, "RUNNING")
        others = [fill(cluster, nodes, "-p", "low", "--requeue") for nodes in halves[1:]]
        job = submit(cluster, "-p", "high", "-N6", "--rail-span=unit")
        nodes = running_on(cluster, job)
        equal(units_of(cluster, nodes), {1}, f"units of {nodes}: the jobs that were started last")
        equal([state(cluster, each) for each in (saving, *others)], ["RUNNING"] * 2 + ["PENDING"] * 2, "the spared and the preempted")

        (folder / "go").touch()
        health = cluster.root / "state" / "health.json"
        wait_for(lambda: health.exists() and saving in json.loads(health.read_text()).get("saved", {}), 40,
                 "restartd to write when the job saved", [cluster.log("ctl", "restartd"), cluster.root / f"{saving}.out"])
        time.sleep(2.5 * slowness())  # slurmctld looks at the file once a second
        gang = submit(cluster, "-p", "high", "-N4")
        equal(running_on(cluster, gang), halves[0], "the place of the job that saved")
        holds(comment(cluster, gang), f"takes the place of 1 of 2 jobs that may be preempted, {saving} (4 nodes, ", "comment")
        holds(comment(cluster, gang), "since its checkpoint", "comment")
        holds(cluster.out("railctl", "explain", gang), f"preemption: takes the place of 1 of 2 jobs that may be preempted, {saving}",
              "railctl explain")
        equal([state(cluster, each) for each in (saving, others[0])], ["PENDING", "RUNNING"], "the one that saved, and the other")
