"""Kinds of jobs, for host loss and for a bad host alike: what can be moved is moved once, what cannot is told.

Several kinds share the cluster in each test; every one of them loses a host of its own.
"""

import contextlib
import json
import re

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import comment
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", ".libs/spank_rail.so", ".libs/job_submit_rail.so"]
AUTO = ("--restart=auto",)


def options(build):
    return Options(build, hosts_per_unit=9, cred_expire=5, railyard={"restartd.max_drained_percent": "100"})


def lose(cluster, host):
    cluster.power_off(host)


def spoil(cluster, host):
    cluster.power_brake(host, 3, True)


def break_gpu(cluster, host):
    """Not a power brake: those of most hosts of a unit at once are one fault of the unit, which is waited for."""
    cluster.agents.set_gpu(host, 3, lost=1)


def submit(cluster, *flags, script="sleep 600"):
    """A batch job that writes "start TASK" into its output at each start; its number."""
    return cluster.out("sbatch", "--parsable", "--open-mode=append", "-o", f"{cluster.root}/%A.out", *flags,
                       stdin=f"#!/bin/sh\necho start $SLURM_ARRAY_TASK_ID\n{script}\n").split(";")[0]


def starts(cluster, job):
    """The tasks that were started, in no order; slurmstepd writes other lines when it ends one."""
    path = cluster.root / f"{job}.out"
    return sorted(line.strip() for line in path.read_text().splitlines() if line.startswith("start")) if path.exists() else []


def records(cluster):
    """Every record of slurmctld's by the name its user knows, tasks and components each by itself."""
    found = {}
    words = ("JobArrayID", "JobID", "HetJobID", "HetJobOffset", "State", "RestartCnt", "NodeList", "Reason")
    for line in cluster.out("squeue", "-h", "-r", "-t", "all", "-O", ",".join(f"{word}:40|" for word in words)).splitlines():
        name, number, leader, offset, state, restarts, nodes, reason = (word.strip() for word in line.split("|")[:len(words)])
        if leader not in ("0", "", "N/A"):
            name = f"{leader}+{offset}"
        found[name] = (int(number), state, int(restarts), expand(nodes), reason)
    return found


def expand(nodes):
    """The names in a host list such as n[001-003,007]."""
    match = re.fullmatch(r"n\[(.*)\]", nodes)
    if not match:
        return [nodes] if nodes else []
    names = []
    for part in match[1].split(","):
        low, _, high = part.partition("-")
        names += [f"n{number:0{len(low)}d}" for number in range(int(low), int(high or low) + 1)]
    return names


def wait_running(cluster, *names, restarts=0, seconds=60):
    """The records of these names, all of which run in the start of that number."""
    def running():
        seen = records(cluster)
        wrong = {name: seen.get(name) for name in names if seen.get(name, (0, "", -1))[1:3] != ("RUNNING", restarts)}
        if wrong:
            raise RuntimeError(f"not yet: {wrong}")
        return [seen[name] for name in names]
    return wait_for(running, seconds, f"jobs {' '.join(names)} to run with {restarts} restarts",
                    [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")], every=0.3)


def excluded(cluster, number):
    return expand(re.search(r"ExcNodeList=(\S*)", cluster.out("scontrol", "show", "job", str(number)))[1].replace("(null)", ""))


def history(cluster):
    return json.loads(cluster.out("railctl", "history", "--last=1000", "--json"))


def requeues_of(cluster, name):
    """Actions that moved this job and were done, and what else there was about it."""
    pattern = re.compile(rf"(requeue|let) job {re.escape(name)}( |$)")
    return [(action["state"], action["text"]) for action in history(cluster)["actions"] if pattern.match(action["text"])]


def noted(cluster, text):
    return [note["text"] for note in history(cluster)["timeline"] if text in note["text"]]


def wait_noted(cluster, text, seconds=60):
    return wait_for(lambda: noted(cluster, text), seconds, f"restartd to say {text!r}", [cluster.log("ctl", "restartd")],
                    every=0.3)


def check_moved_once(cluster, name, number, victim, also=()):
    """It runs in its second start, elsewhere; no other action than its own moved it, and it was done."""
    nodes = [node for record in wait_running(cluster, name, *also, restarts=1) for node in record[3]]
    check(victim not in nodes, f"{name} runs on {nodes}, with {victim}")
    done = requeues_of(cluster, name.split("+")[0])
    check(done and all(state == "done" for state, _ in done), f"actions for {name}: {done}")
    # Where our drain keeps the host away, no exclusion of the job's has to.
    drained = "Reason=railyard[" in cluster.out("scontrol", "show", "node", victim)
    check(drained or victim in excluded(cluster, number), f"{name} may use {victim} again")
    wait_noted(cluster, f"job {name.split('+')[0]} is RUNNING on ")


def alive(cluster):
    check(cluster.alive("ctl", "restartd"), "restartd has ended")


# --- arrays and heterogeneous jobs ---

def arrays_and_components(cluster, fault):
    # Task 0 is over at once and stays in slurmctld's memory; the last to start bears the array's own number.
    array = submit(cluster, *AUTO, "-N1", "--array=0-2", script="test $SLURM_ARRAY_TASK_ID = 0 || sleep 600")
    # One task at a time: the others wait in one record, which bears the array's own number.
    limited = submit(cluster, *AUTO, "-N1", "--array=0-2%1",
                     script="test $SLURM_ARRAY_TASK_ID$SLURM_RESTART_COUNT != 0 || sleep 600")
    behind = submit(cluster, *AUTO, "-N2", ":", "-N1")  # a component other than the leader's is hurt
    leading = submit(cluster, *AUTO, "-N1", ":", "-N1")  # the leader's
    names = (f"{array}_1", f"{array}_2", f"{limited}_0", f"{behind}+0", f"{behind}+1", f"{leading}+0", f"{leading}+1")
    one, last, first, _, other, leader, _ = wait_running(cluster, *names, seconds=90)
    wait_for(lambda: records(cluster)[f"{array}_0"][1] == "COMPLETED", 20, f"{array}_0 to be over")
    equal(last[0], int(array), "the number of the array's last task")
    wait_for(lambda: json.loads(cluster.out("railctl", "status", "--json"))["jobs"], 10, "restartd to know the jobs")
    told = cluster.out("railctl", "status", "--all")
    for name in (f"{array}_2", f"{limited}_0", f"{limited}_[1-2%1]", behind):
        holds(told, f"\n{name} ", "railctl status")
    holds(cluster.out("railctl", "explain", f"{array}_2"), f"job {array}_2, user 0: running on {last[3][0]}", "explain")
    holds(cluster.out("railctl", "explain", f"{limited}_2"), f"job {limited}_[1-2%1], user 0: pending", "explain")
    holds(cluster.out("railctl", "explain", f"{behind}+1"),
          f"component {behind}+1 (its own number is {other[0]}): {other[3][0]}", "explain")

    victims = {f"{array}_2": last, f"{limited}_0": first, f"{behind}+1": other, f"{leading}+0": leader}
    for record in victims.values():
        fault(cluster, record[3][0])
    check_moved_once(cluster, f"{array}_2", last[0], last[3][0])
    check_moved_once(cluster, f"{behind}+1", other[0], other[3][0], also=[f"{behind}+0"])
    check_moved_once(cluster, f"{leading}+0", leader[0], leader[3][0], also=[f"{leading}+1"])
    wait_noted(cluster, f"job {behind} moves whole: {other[3][0]} runs its component {behind}+1")
    # Its turn among the tasks of its array comes once more, and the others have theirs.
    wait_for(lambda: starts(cluster, limited) == ["start 0", "start 0", "start 1", "start 2"], 90,
             f"each task of {limited} to be over, the first after two starts", [cluster.root / f"{limited}.out"])
    equal({state for state, _ in requeues_of(cluster, f"{limited}_0")}, {"done"}, f"actions for {limited}_0")

    seen = records(cluster)
    equal(seen[f"{array}_1"], one, "the task beside the culprit's")
    equal(seen[f"{array}_0"][1:3], ("COMPLETED", 0), "the task that was over")
    equal(starts(cluster, array), ["start 0", "start 1", "start 2", "start 2"], "starts of its tasks")
    equal(excluded(cluster, one[0]), [], "what the task beside must not use")
    alive(cluster)


def test_arrays_and_components_lose_hosts(cluster):
    """Hosts of an array's last and first task, of a component and of a leader lose power."""
    arrays_and_components(cluster, lose)


def test_arrays_and_components_have_bad_hosts(cluster):
    """The same hosts turn bad instead."""
    arrays_and_components(cluster, spoil)


# --- jobs with ties, and those that cannot be moved ---

@contextlib.contextmanager
def reservations(cluster, **nodes):
    """Nodes kept for the jobs that name them, and given back with all jobs ended."""
    try:
        for name, hosts in nodes.items():
            cluster.out("scontrol", "create", "reservation", f"reservationname={name}", "starttime=now", "duration=60",
                        "user=root", f"nodes={','.join(hosts)}")
        yield
    finally:
        cluster.run("scancel", "--user=root", "--quiet")
        wait_for(lambda: not cluster.out("squeue", "-h"), 60, "the jobs to be gone")
        for name in nodes:
            cluster.run("scontrol", "delete", f"reservationname={name}")


def terminal(cluster, label, *command):
    """An interactive command on the controller's host; its log is what its user sees."""
    return cluster.spawn("ctl", label, list(command))


def number_of(cluster, name):
    return wait_for(lambda: cluster.out("squeue", "-h", "-n", name, "-t", "running", "-o", "%A"), 40, f"job {name} to run")


def tied_and_fixed(cluster, fault):
    lost = fault is lose
    roomy = submit(cluster, *AUTO, "-N2", "--reservation=roomy")
    full = submit(cluster, *AUTO, "-N2", "--reservation=full")
    parent = submit(cluster, *AUTO, "-N1", script="test -n \"$SLURM_RESTART_COUNT\" || sleep 600")
    child = submit(cluster, *AUTO, "-N1", f"--dependency=afterok:{parent}", script="true")
    survivor = submit(cluster, *AUTO, "-N2", "--no-kill")
    shrinking = submit(cluster, "-N2", "--no-kill")
    plain = submit(cluster, "-N1")
    terminal(cluster, "salloc", "salloc", "-N2", "-J", "shell", "srun", "sleep", "600")
    terminal(cluster, "srun", "srun", "-N1", "-J", "step", "sleep", "600")
    shell, step = number_of(cluster, "shell"), number_of(cluster, "step")
    names = (roomy, full, parent, survivor, shrinking, plain, shell, step)
    before = dict(zip(names, wait_running(cluster, *names)))
    victims = {name: record[3][-1] for name, record in before.items()}
    wait_for(lambda: all(f"\n{name} " in cluster.out("railctl", "status", "--all") for name in names), 10,
             "restartd to know the jobs")
    for victim in victims.values():
        fault(cluster, victim)

    for name in (roomy, survivor):
        check_moved_once(cluster, name, before[name][0], victims[name])
    check(set(records(cluster)[roomy][3]) <= set(cluster.nodes[0:3]), "a job left its reservation")
    wait_for(lambda: records(cluster)[child][1] == "COMPLETED", 60, f"{child} to run after {parent}")
    equal(records(cluster)[parent][1:3], ("COMPLETED", 1), f"{parent}, on which {child} depends")
    equal(starts(cluster, child), ["start"], f"starts of {child}")

    # What cannot be moved: its user and the operator are told, and nothing moved it.
    reasons = {shell: "an allocation of salloc or srun cannot be requeued",
               step: "an allocation of salloc or srun cannot be requeued",
               plain: "it was submitted without --restart=auto", shrinking: "it was submitted without --restart=auto"}
    for name, why in reasons.items():
        wait_noted(cluster, f"job {name} is left to the resource manager: {why}")
        told = comment(cluster, name)
        holds(told, "railyard-told: i-", f"the comment of {name}")
        holds(told, f"{victims[name]} {'was lost' if lost else 'has a fault'}: this job is left", f"the comment of {name}")
        equal(requeues_of(cluster, name), [], f"actions for {name}")
    for label, name in (("salloc", shell), ("srun", step)):
        wait_for(lambda: "railyard: i-" in cluster.log("ctl", label).read_text(), 20, f"{label}'s user to be told",
                 [cluster.log("ctl", label)])
    seen = records(cluster)
    equal(seen[shrinking][1:4], ("RUNNING", 0, before[shrinking][3][:-1] if lost else before[shrinking][3]), "a job that goes on")
    # An allocation that cannot be requeued is not ended either, be its host lost.
    left = (shell, step) if lost else (plain, shell, step)
    equal([seen[name][1:3] for name in left], [("RUNNING", 0)] * len(left), "jobs that are left where they are")

    # Its reservation has no other host: requeued once, it waits, which is told.
    held_up = wait_noted(cluster, f"job {full} still waits", 120)
    holds(held_up[0], "in reservation full", "why it waits")
    equal(records(cluster)[full][1:3], ("PENDING", 1), "a job without a host to go to")
    wait_for(lambda: "this job was requeued and still waited" in comment(cluster, full), 20, f"the user of {full} to be told")
    alive(cluster)


def test_tied_and_fixed_jobs_lose_hosts(cluster):
    """Jobs with a reservation, a dependency, --no-kill or no way to be requeued lose a host each."""
    with reservations(cluster, roomy=cluster.nodes[0:3], full=cluster.nodes[3:5]):
        tied_and_fixed(cluster, lose)


def test_tied_and_fixed_jobs_have_bad_hosts(cluster):
    """A host of each turns bad instead."""
    with reservations(cluster, roomy=cluster.nodes[0:3], full=cluster.nodes[3:5]):
        tied_and_fixed(cluster, break_gpu)
