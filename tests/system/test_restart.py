"""A gang job through faults: where it restarts, from what, and that its result is right."""

import json
import re
import signal
import time

from railcluster.jobs import CHECKPOINT, PROGRESS, START, heat2d
from railcluster.process import wait_for
from railcluster.queue import comment, fields, fill, nodes_of, running_on, state, submit, wait_state
from railcluster.testing import check, equal, holds, skip

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", ".libs/spank_rail.so", ".libs/job_submit_rail.so",
         "railckpt", "tests/apps/heat2d"]
STEPS = 900
PACE_US = 20000


def undisturbed(cluster):
    job = heat2d(cluster, 1, STEPS)
    job.wait_state("COMPLETED", 60)
    return job.checksum()


def gang(cluster, nodes=6, pace_us=PACE_US, steps=STEPS, **options):
    """A running gang in one unit with at least one checkpoint, and its nodes."""
    folder = cluster.root / "scratch" / f"ckpt-{time.monotonic_ns()}"
    folder.mkdir(parents=True)
    job = heat2d(cluster, nodes, steps, pace_us=pace_us, ckpt=folder, options=("--rail-span=unit",), **options)
    seen = job.wait_state("RUNNING", 90)
    job.wait_checkpoint(40)
    return job, seen.nodes


def timeline(cluster, what):
    """What restartd's journal tells of a job or host: (kind, text) in order."""
    answer = json.loads(cluster.out("railctl", "explain", str(what), "--json"))
    return [(note["kind"], note["text"]) for note in answer["timeline"]]


def actions(cluster):
    """The journal's actions as (kind, state)."""
    answer = json.loads(cluster.out("railctl", "history", "--json"))
    return [(action["kind"], action["state"]) for action in answer["actions"]]


def reason(cluster, node):
    return cluster.out("sinfo", "-h", "-n", node, "-o", "%E")


def check_moved(cluster, job, victim, restarts=1, seconds=40):
    """The job runs again, in one unit, without the culprit, from a checkpoint."""
    seen = job.wait_state("RUNNING", seconds, restarts)
    check(victim not in seen.nodes, f"{victim} is still among {seen.nodes}")
    check(any(set(seen.nodes) <= set(unit) for unit in cluster.units), f"{seen.nodes} lie in more than one unit")
    wait_for(lambda: len(job.lines(START)) == restarts + 1, 30, "heat2d to start again", [job.output])
    start = job.lines(START)[-1]
    check(int(start["step"]) > 0, f"it began from {start['source']}")
    return seen


def check_end(cluster, job, checksum, restarts=1):
    seen = job.wait_state("COMPLETED", 120)
    equal(seen.restarts, restarts, "restarts")
    equal(job.checksum(), checksum, "checksum")


def test_power_off(cluster):
    """A node loses power: the job restarts elsewhere from its last checkpoint and its result is right."""
    checksum = undisturbed(cluster)
    job, nodes = gang(cluster)
    victim = nodes[2]
    cluster.power_off(victim)
    check_moved(cluster, job, victim)
    holds(reason(cluster, victim), "railyard[", f"reason of {victim}")
    kinds = [kind for kind, _ in timeline(cluster, job.number)]
    check(kinds and kinds.index("signal") < kinds.index("decision") < kinds.index("action"), f"timeline {kinds}")
    check_end(cluster, job, checksum)


def placement(cluster, job):
    """What railctl explain says of a job's place: the sentences of its terms, by name."""
    answer = json.loads(cluster.out("railctl", "explain", job, "--json"))["placement"]
    return {term["term"]: term["text"] for term in answer.get("terms", [])}


def lose_one_of_four(cluster, *flags):
    """A gang of four in the first unit loses a host when the second unit has room for just four and the first for
    more. The job, its nodes before, the one that was lost, and those it has then."""
    first, second = cluster.units
    beside, other = fill(cluster, first[4:]), fill(cluster, second)
    job = submit(cluster, "-N4", "--restart=auto", *flags)
    had = running_on(cluster, job)
    equal(had, first[:4], "nodes of the first start")
    for filler in (beside, other):
        cluster.out("scancel", filler)
        wait_state(cluster, filler, "CANCELLED")
    fill(cluster, second[:4])
    cluster.power_off(had[1])
    wait_for(lambda: (fields(cluster, job)["Restarts"], state(cluster, job)) == ("1", "RUNNING"), 90,
             f"job {job} to run again", [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")])
    return job, had, had[1], nodes_of(cluster, job)


def test_the_other_hosts_are_kept(cluster):
    """One host of a gang is lost: it comes back on the others and one of their unit, though in another unit nothing
    would be left over; railctl explain says so."""
    job, had, lost, nodes = lose_one_of_four(cluster)
    equal(len(set(nodes) & set(had)), 3, f"nodes kept of {had} in {nodes}")
    check(lost not in nodes and set(nodes) <= set(cluster.units[0]), f"{lost} was not replaced from its unit: {nodes}")
    holds(comment(cluster, job), f"railyard-had: start=0 {cluster.out('scontrol', 'show', 'hostlistsorted', ','.join(had))}",
          "admin_comment")
    told = placement(cluster, job)
    equal(told.get("moved"), "3 of the 4 nodes it had before", f"railctl explain: {told}")


def test_hosts_are_not_kept_unless_wanted(cluster):
    """With --rail-keep=no the job is placed as if it were new: where nothing is left over."""
    job, _, _, nodes = lose_one_of_four(cluster, "--rail-keep=no")
    equal(nodes, cluster.units[1][4:], "nodes of the second start")
    check("moved" not in placement(cluster, job), "railctl explain tells of hosts it had")


# Keeps checkpoints of its own, as Megatron-LM lays them out, each ten steps of a tenth of a second, until there is a file `hold`.
UNCHANGED = r"""
cd {folder}/ck
step=$(cat latest_checkpointed_iteration.txt || echo 0)
echo "start $step $(date +%s.%N)" >>../log
while :; do
    step=$((step + 1))
    sleep 0.1
    [ $((step % 10)) = 0 ] || continue
    if [ -e ../hold ]; then
        echo held >>../log
        continue
    fi
    to=iter_$(printf %07d $step)
    mkdir -p $to
    echo tensors >$to/__0_0.distcp
    echo pickle >$to/.metadata
    echo "{{}}" >$to/metadata.json
    echo $step >latest_checkpointed_iteration.txt
    echo "saved $step $(date +%s.%N)" >>../log
done
"""


def seconds_of(text):
    """Of "5.2 s" or "1 min 20 s"."""
    return sum(float(number) * {"s": 1, "min": 60}[unit] for number, unit in re.findall(r"([\d.]+) (s|min)", text))


def test_an_unchanged_program_is_known_by_its_own_checkpoints(cluster):
    """A host is lost, and what restartd says the program lost is what it lost."""
    folder = cluster.root / "scratch" / f"unchanged-{time.monotonic_ns()}"
    (folder / "ck").mkdir(parents=True)
    script = UNCHANGED.format(folder=folder)
    job = submit(cluster, "-N4", "--restart=auto", f"--ckpt-dir={folder}/ck", "--ckpt-kind=megatron", script=script)
    nodes = running_on(cluster, job)
    logs = [cluster.log("ctl", "restartd"), folder / "log", cluster.root / f"{job}.out"]

    def known():
        commit = json.loads(cluster.out("railctl", "explain", job, "--json"))["job"]["commit"]
        return commit["step"] if commit else 0

    def lines(word):
        return [line.split() for line in (folder / "log").read_text().splitlines() if line.startswith(word)]

    wait_for(lambda: known() >= 20, 60, "restartd to know a checkpoint of the program's", logs)
    (folder / "hold").touch()
    wait_for(lambda: lines("held"), 30, "the program to save no more", logs)
    _, step, saved = lines("saved")[-1]
    wait_for(lambda: known() == int(step), 30, "restartd to know the last one", logs)
    off = time.time()
    cluster.power_off(nodes[2])
    wait_for(lambda: len(lines("start")) == 2, 90, f"job {job} to run again", logs)
    _, begun, again = lines("start")[-1]
    equal(begun, step, "the step that the program goes on from")

    def told():
        return re.search(r"lost (.*) of work, kept .* \(checkpoint of step (\d+)\)", str(timeline(cluster, job)))

    wait_for(told, 30, "what restartd says of the loss", logs)
    lost, of = told().groups()
    equal(of, step, "the checkpoint that counts")
    check(off - float(saved) - 1 < seconds_of(lost) < float(again) - float(saved) + 1,
          f"restartd says {lost}; saved at {saved}, off at {off}, begun again at {again}")
    cluster.out("scancel", job)


# As Megatron-LM with --exit-signal-handler: at SIGTERM it saves after its step, and ends with success.
HEARS = """
import os, pathlib, signal, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
tracker = pathlib.Path("latest_checkpointed_iteration.txt")
step = int(tracker.read_text()) if tracker.exists() else 0
log = open("../log", "a", buffering=1)

def save():
    folder = pathlib.Path(f"iter_{step:07}")
    folder.mkdir(exist_ok=True)
    for name in ("__0_0.distcp", ".metadata", "metadata.json"):
        (folder / name).write_text("tensors")
    tracker.write_text(str(step))
    log.write(f"saved {step}\\n")

log.write(f"start {step}\\n")
while not asked:
    step += 1
    time.sleep(0.05)
    if step == 20:
        save()
save()
"""


def test_an_unchanged_program_is_asked_to_save_as_its_framework_hears_it(cluster):
    """A host becomes slow: the program is sent SIGTERM, saves and ends, and goes on elsewhere from that very step."""
    folder = cluster.root / "scratch" / f"hears-{time.monotonic_ns()}"
    (folder / "ck").mkdir(parents=True)
    (folder / "train.py").write_text(HEARS)
    script = f"cd {folder}/ck\npython3 ../train.py\nexit $?\n"
    job = submit(cluster, "-N4", "--restart=auto", f"--ckpt-dir={folder}/ck", "--ckpt-kind=megatron", script=script)
    nodes = running_on(cluster, job)
    logs = [cluster.log("ctl", "restartd"), folder / "log", cluster.root / f"{job}.out"]

    def lines(word):
        return [int(line.split()[1]) for line in (folder / "log").read_text().splitlines() if line.startswith(word)]

    def known():
        commit = json.loads(cluster.out("railctl", "explain", job, "--json"))["job"]["commit"]
        return commit["step"] if commit else 0

    wait_for(lambda: known() == 20, 60, "restartd to know the first checkpoint", logs)
    cluster.power_brake(nodes[2], 3, True)
    wait_for(lambda: len(lines("start")) == 2, 120, f"job {job} to run again", logs)
    check(nodes[2] not in running_on(cluster, job), f"{nodes[2]} is still among the job's nodes")
    check(lines("saved")[-1] > 20, f"it saved {lines('saved')} only")
    equal(lines("start")[-1], lines("saved")[-1], "the step that it goes on from")
    holds((cluster.root / f"{job}.out").read_text(), "SIGTERM sent to process", "what the job's output says")
    told = str(timeline(cluster, job))
    holds(told, f"saved step {lines('saved')[-1]}", "what restartd says")
    cluster.out("scancel", job)


def test_kernel_hung(cluster):
    """A node's kernel hangs: links stay up and connections are taken, slurmctld would wait for minutes; the job moves."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: stopping one's is not told from stopping others'")
    checksum = undisturbed(cluster)
    job, nodes = gang(cluster)
    victim = nodes[2]
    cluster.hang(victim)
    try:
        check_moved(cluster, job, victim)
        told = " ".join(text for _, text in timeline(cluster, victim))
        holds(told, "it takes connections, and neither its agent nor the resource manager's daemon there answers", "timeline")
        check_end(cluster, job, checksum)
    finally:
        cluster.power_off(victim)


def test_power_brake(cluster):
    """A GPU's power brake persists: the job is asked to save, the node drained, the job requeued; no work is lost."""
    checksum = undisturbed(cluster)
    job, nodes = gang(cluster)
    victim = nodes[4]
    cluster.power_brake(victim, 3, True)
    check_moved(cluster, job, victim)
    holds(reason(cluster, victim), "railyard[", f"reason of {victim}")
    start = int(job.lines(START)[-1]["step"])
    told = [int(match["step"]) for match in job.lines(PROGRESS)]
    saved = [int(match["step"]) for match in job.lines(CHECKPOINT)]
    check(start in saved, f"it resumed at {start}, which is none of the checkpoints {saved}")
    before = max(step for step in told if step <= max(saved) + 200)
    check(before - start < 150, f"it resumed at {start} though it had reached {before}: it was not asked to save")
    holds(" ".join(text for _, text in timeline(cluster, job.number)), "gpu", "timeline")
    check_end(cluster, job, checksum)


def test_short_power_brake_is_nothing(cluster):
    """A brake that is gone before its window ends moves nobody."""
    job, nodes = gang(cluster)
    cluster.power_brake(nodes[1], 0, True)
    time.sleep(2)
    cluster.power_brake(nodes[1], 0, False)
    time.sleep(6)
    seen = job.seen()
    equal((seen.state, seen.restarts, seen.nodes), ("RUNNING", 0, nodes), "the job")
    equal(actions(cluster), [], "actions")


def test_cable_cut(cluster):
    """A host that is cut off goes on computing; its ranks may not commit over the job's next life.

    The cable stays cut until the job has ended: Slurm knows a step by job and number only, so that a host which
    returns with the step of the job's former life ends the step of the present one (restartd-decisions(7), BUGS).
    """
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: there is no cable to cut")
    checksum = undisturbed(cluster)
    job, nodes = gang(cluster)
    victim = nodes[3]
    cluster.cable(victim, False)
    check_moved(cluster, job, victim)
    check_end(cluster, job, checksum)
    cluster.cable(victim, True)


def test_dead_agent_is_not_a_dead_host(cluster):
    """nodewatchd dies alone: without a second witness nothing is drained or requeued."""
    job, nodes = gang(cluster)
    cluster.daemons[nodes[0], "nodewatchd"].kill(signal.SIGKILL)
    wait_for(lambda: any(kind == "signal" for kind, _ in timeline(cluster, nodes[0])), 15, "the silence to be noticed")
    time.sleep(4)
    seen = job.seen()
    equal((seen.state, seen.restarts, seen.nodes), ("RUNNING", 0, nodes), "the job")
    equal(actions(cluster), [], "actions")


def test_restartd_killed_between_intent_and_action(cluster):
    """SIGKILL while an action hangs in slurmctld: after the restart it is done, and done once."""
    job, nodes = gang(cluster, steps=3000)
    victim = nodes[5]
    controller = cluster.daemons["ctl", "slurmctld"]
    cluster.power_off(victim)
    wait_for(lambda: timeline(cluster, victim), 15, "the silence to be noticed", every=0.02)
    controller.kill(signal.SIGSTOP)
    try:
        intents = wait_for(lambda: pending(cluster), 20, "an intent to stand in the journal", [cluster.log("ctl", "restartd")],
                           every=0.02)
        cluster.daemons["ctl", "restartd"].kill(signal.SIGKILL)
        time.sleep(0.5)
        cluster.agents.start_restartd()
        time.sleep(2)
    finally:
        controller.kill(signal.SIGCONT)
    check_moved(cluster, job, victim, seconds=60)
    time.sleep(8)
    equal(job.seen().restarts, 1, f"restarts (pending when it was killed: {intents})")
    requeues = [state for kind, state in actions(cluster) if "requeue" in kind]
    check(requeues.count("done") <= 1, f"requeues {requeues}")
    holds(reason(cluster, victim), "railyard[", f"reason of {victim}")


def pending(cluster):
    """What is decided and not yet done; restartd answers while an action of its hangs."""
    return [(kind, state) for kind, state in actions(cluster) if state == "pending"]


def let_save(cluster, job):
    """slurmctld writes its jobs down some seconds after they change; one killed before that has never heard of them."""
    changed = time.time()
    cluster.out("scontrol", "update", f"jobid={job.number}", "comment=saved")
    state = cluster.root / "state" / "job_state"
    wait_for(lambda: state.stat().st_mtime > changed, 30, "slurmctld to save its jobs", [cluster.log("ctl", "slurmctld")])


def test_slurmctld_away(cluster):
    """slurmctld is down while a node dies: restartd waits, and acts when it is back."""
    checksum = undisturbed(cluster)
    job, nodes = gang(cluster)
    victim = nodes[1]
    controller = cluster.daemons["ctl", "slurmctld"]
    let_save(cluster, job)
    controller.kill(signal.SIGKILL)
    wait_for(lambda: not controller.alive(), 5, "slurmctld to be gone")
    time.sleep(3)
    cluster.power_off(victim)
    time.sleep(8)
    check(cluster.daemons["ctl", "restartd"].alive(), "restartd ended without slurmctld")
    cluster.start_slurmctld()
    check_moved(cluster, job, victim, seconds=60)
    check_end(cluster, job, checksum)


def test_jobs_live_without_restartd(cluster):
    """restartd's end harms nothing: jobs run on, new ones start, agents report again when it is back."""
    job, nodes = gang(cluster)
    cluster.daemons["ctl", "restartd"].kill(signal.SIGKILL)
    cluster.out("srun", "-N2", "true")
    job.wait_checkpoint(60, count=len(job.lines(CHECKPOINT)) + 1)
    cluster.agents.start_restartd()

    def heard():
        hosts = json.loads(cluster.out("railctl", "status", "--json"))["hosts"]
        return all(host["agent"]["last_report"] and not host["agent"]["silent"] for host in hosts)
    wait_for(heard, 20, "all agents to report again", [cluster.log("ctl", "restartd")])
    seen = job.seen()
    equal((seen.state, seen.restarts, seen.nodes), ("RUNNING", 0, nodes), "the job")
