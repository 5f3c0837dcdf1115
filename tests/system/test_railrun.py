"""railrun: a step starts again inside its job's allocation, on a spare, without the queue."""

import json
import shutil
import time
from pathlib import Path

from railcluster.cluster import Options
from railcluster.jobs import AGAIN, CHECKPOINT, PROGRESS, START, heat2d
from railcluster.process import wait_for
from railcluster.queue import fields, nodes_of, state, submit
from railcluster.testing import check, equal, holds, skip

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "railrun", ".libs/spank_rail.so", ".libs/job_submit_rail.so",
         "tests/apps/heat2d"]
STEPS = 900
PACE_US = 20000


def options(build):
    return Options(build=build, hosts_per_unit=4)


def undisturbed(cluster):
    job = heat2d(cluster, 1, STEPS)
    job.wait_state("COMPLETED", 60)
    return job.checksum()


def gang(cluster, launcher="railrun srun --mpi=pmix --ntasks-per-node=1", spares=1, flags=()):
    """A running gang of four ranks with spares, and a checkpoint."""
    folder = cluster.root / "scratch" / f"railrun-{time.monotonic_ns()}"
    folder.mkdir(parents=True)
    job = heat2d(cluster, 4 + spares, STEPS, pace_us=PACE_US, ckpt=folder, launcher=launcher,
                 options=("--no-kill", f"--rail-spares={spares}", *flags))
    job.wait_state("RUNNING", 90)
    job.wait_checkpoint(60)
    return job


def away(cluster):
    """restartd is not there, so that Slurm alone says which hosts a job has."""
    cluster.agents.stop("ctl", "restartd")


def give_up(cluster, node):
    """slurmctld's judgement after SlurmdTimeout, which nobody waits for here."""
    cluster.out("scontrol", "update", f"nodename={node}", "state=down", "reason=gone")


def logs(job):
    """Where the step's end or its start may have got stuck."""
    return [*job.logs(), *(job.cluster.log(node, "slurmd") for node in job.seen().nodes)]


def wait_again(job, launches, seconds=120):
    """The launch that follows, by railrun's own word, and heat2d's start in it."""
    wait_for(lambda: len(job.lines(START)) == launches + 1, seconds, f"launch {launches}", logs(job), every=0.02)
    return job.lines(AGAIN)[-1], job.lines(START)[-1]


def check_inside(job, checksum, launches=1):
    """The same start of the job ends with the right result."""
    seen = job.wait_state("COMPLETED", 120)
    equal(seen.restarts, 0, "restarts of the job")
    equal(len(job.lines(START)), launches + 1, "launches")
    equal(job.checksum(), checksum, "checksum")


def check_away(cluster, launcher):
    checksum = undisturbed(cluster)
    job = gang(cluster, launcher, flags=("--ntasks-per-node=1",))  # mpirun takes a slot a task
    away(cluster)
    victim = job.ranks()[2]
    cluster.power_off(victim)
    give_up(cluster, victim)
    again, start = wait_again(job, 1)
    nodes = cluster.out("scontrol", "show", "hostnames", again["nodes"]).split()
    check(victim not in nodes and len(nodes) == 4, f"it starts again on {nodes}")
    check(int(start["step"]) > 0, f"it began from {start['source']}")
    check_inside(job, checksum)


def test_restartd_away(cluster):
    """Slurm takes a lost host out of the job, and railrun goes on by itself: srun's status 0 is no success."""
    check_away(cluster, "railrun srun --mpi=pmix --ntasks-per-node=1")


def test_mpirun(cluster):
    """The same with Open MPI's mpirun, which starts its daemons on the hosts that are left."""
    if not shutil.which("mpirun"):
        skip("Open MPI is not installed")
    check_away(cluster, "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 railrun mpirun")


def timeline(cluster, job):
    """What restartd's journal tells of the job."""
    answer = json.loads(cluster.out("railctl", "explain", str(job.number), "--json"))
    return " | ".join(note["text"] for note in answer["timeline"])


def test_lost_host(cluster):
    """A host loses power: the same start of the job goes on from its checkpoint, on a spare, without the queue."""
    checksum = undisturbed(cluster)
    job = gang(cluster, spares=2)
    victim = job.ranks()[2]
    began = time.monotonic()
    cluster.power_off(victim)
    again, start = wait_again(job, 1)
    print(f"    {time.monotonic() - began:.1f} s from the power-off to the first instruction on a spare")
    nodes = cluster.out("scontrol", "show", "hostnames", again["nodes"]).split()
    check(victim not in nodes and len(nodes) == 4, f"it starts again on {nodes}")
    check(again["why"].startswith("i-"), f"restartd chose the hosts: {again['why']}")
    check(int(start["step"]) in [int(match["step"]) for match in job.lines(CHECKPOINT)], f"it began from {start['source']}")
    check_inside(job, checksum)
    told = timeline(cluster, job)
    holds(told, "is to start its step again inside its allocation", "timeline")
    holds(told, "runs again inside its allocation on", "timeline")
    holds(cluster.out("sinfo", "-h", "-n", victim, "-o", "%E"), "railyard[", f"reason of {victim}")


def test_bad_host(cluster):
    """A GPU's power brake persists: the step ends after its save, starts again on a spare, and the host is drained."""
    checksum = undisturbed(cluster)
    job = gang(cluster, spares=1)
    victim = job.ranks()[3]
    cluster.power_brake(victim, 3, True)
    again, start = wait_again(job, 1)
    print(f"    {time.time() - Path(start['source']).stat().st_mtime:.1f} s from the save to the first instruction on a spare")
    nodes = cluster.out("scontrol", "show", "hostnames", again["nodes"]).split()
    check(victim not in nodes and len(nodes) == 4, f"it starts again on {nodes}")
    saved = [int(match["step"]) for match in job.lines(CHECKPOINT)]
    check(int(start["step"]) in saved, f"it began from {start['source']}, with checkpoints {saved}")
    told = [int(match["step"]) for match in job.lines(PROGRESS) if int(match["step"]) <= max(saved) + 200]
    check(max(told) - int(start["step"]) < 150, f"it resumed at {start['step']} though it had reached {max(told)}")
    check(victim in job.seen().nodes, "the job gave the host back, which Slurm cannot")
    holds(cluster.out("sinfo", "-h", "-n", victim, "-o", "%T %E"), "drain", f"state of {victim}")
    check_inside(job, checksum)
    holds(timeline(cluster, job), "saved step", "timeline")


def test_gone_gpu(cluster):
    """A host to be repaired is taken out of the job that runs without it: the same start goes on, and hands get the host."""
    checksum = undisturbed(cluster)
    job = gang(cluster, spares=1)
    holds(job.seen().comment, "no-kill=yes", "what Slurm keeps of the job's flags")
    victim = job.ranks()[2]
    cluster.agents.set_gpu(victim, 0, lost=1)
    wait_again(job, 1)
    wait_for(lambda: victim not in job.seen().nodes, 60, f"{victim} to leave the job", [cluster.log("ctl", "restartd")])
    check("drain" in cluster.out("sinfo", "-h", "-n", victim, "-o", "%T"), f"{victim} is given to others")
    wait_for(lambda: "hands needed" in cluster.out("sinfo", "-h", "-n", victim, "-o", "%E"), 60, "hands to be asked for",
             [cluster.log("ctl", "restartd")])
    check_inside(job, checksum)
    holds(cluster.out("railctl", "explain", victim), f"take {victim} out of job {job.number}, which runs without it", victim)


def test_no_spare_left(cluster):
    """The second loss finds no spare: the job goes back to the queue, as without railrun."""
    checksum = undisturbed(cluster)
    job = gang(cluster, spares=1)
    cluster.power_off(job.ranks()[2])
    wait_again(job, 1)
    job.wait_checkpoint(60, count=len(job.lines(CHECKPOINT)) + 1)
    cluster.power_off(job.ranks()[1])
    job.wait_state("RUNNING", 90, 1)
    seen = job.wait_state("COMPLETED", 120)
    equal(seen.restarts, 1, "restarts")
    equal(job.checksum(), checksum, "checksum")


def test_host_of_the_script(cluster):
    """The host that runs the batch script cannot be survived inside: that is a requeue."""
    job = gang(cluster, spares=1)
    victim = job.seen().nodes[0]
    cluster.power_off(victim)
    # When Slurm 22.05 starts it again is another matter: its record of the job has shrunk by the host meanwhile.
    wait_for(lambda: f"requeue job {job.number} without {victim}" in timeline(cluster, job), 60, "the job to be requeued",
             [job.output, cluster.log("ctl", "restartd")])
    wait_for(lambda: job.seen().restarts == 1, 60, "the job's next start", [job.output, cluster.log("ctl", "restartd")])


def test_cut_off_host(cluster):
    """A host that is cut off goes on computing: its ranks may not publish over the next launch of the same start."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: there is no cable to cut")
    checksum = undisturbed(cluster)
    job = gang(cluster, spares=1)
    victim = job.ranks()[2]
    cluster.cable(victim, False)
    wait_again(job, 1)
    check_inside(job, checksum)
    folder = max((cluster.root / "scratch").glob("railrun-*"))
    equal(folder.joinpath("epoch").read_text().split("\n", 1)[0], "1", "the epoch of the second launch")
    cluster.cable(victim, True)


def test_warm_spares(cluster):
    """Spares read program and checkpoint ahead, in a step that is gone before the launch."""
    checksum = undisturbed(cluster)
    job = gang(cluster, launcher="railrun --warm --warm-limit 100M srun --mpi=pmix --ntasks-per-node=1", spares=1)
    warmed = lambda: "railrun-warm" in cluster.out("squeue", "--steps", "--noheader", "--jobs", str(job.number), "--format=%i %j")
    wait_for(warmed, 60, "a step on the spares", [job.output], every=0.02)
    cluster.power_off(job.ranks()[2])
    wait_again(job, 1)
    check_inside(job, checksum)


def end_of(cluster, script, *flags, seconds=60):
    """State and exit code of a batch job, and what it printed."""
    job = submit(cluster, *flags, script=script)
    wait_for(lambda: state(cluster, job) not in ("PENDING", "RUNNING", "COMPLETING"), seconds, f"job {job} to end",
             [cluster.root / f"{job}.out"])
    return state(cluster, job), fields(cluster, job)["ExitCode"], (cluster.root / f"{job}.out").read_text()


def test_exit_statuses(cluster):
    """railrun ends as the step does, and says what it cannot run."""
    equal(end_of(cluster, "exec railrun srun true", "-N2")[:2], ("COMPLETED", "0:0"), "a step that ends well")
    equal(end_of(cluster, "exec railrun --settle 1s srun sh -c 'exit 3'", "-N2")[:2], ("FAILED", "3:0"), "a step that fails")
    for script, code, words in (("exec railrun no-such-launcher", "127:0", "no-such-launcher: No such file"),
                                ("exec railrun srun -w n001 true", "2:0", "srun -w: railrun chooses the hosts"),
                                ("exec railrun", "2:0", "no command"),
                                ("exec srun -N1 railrun srun true", "2:0", "this is a step already")):
        end = end_of(cluster, script, "-N2")
        equal(end[:2], ("FAILED", code), script)
        holds(end[2], words, script)
    outside = cluster.run("railrun", "srun", "true")
    equal(outside.returncode, 2, "outside of a job")
    holds(outside.stderr, "SLURM_JOB_ID is not set", "outside of a job")


def test_signals(cluster):
    """A signal to the batch script's railrun reaches every rank; SIGTERM ends both, and nothing starts again."""
    script = "trap \"echo told $SLURM_PROCID\" USR1; echo up; i=0; while [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done"
    job = submit(cluster, "-N3", "--rail-spares=1", script=f"exec railrun srun -n2 sh -c '{script}'")
    output = cluster.root / f"{job}.out"
    wait_for(lambda: output.exists() and output.read_text().count("up") == 2, 30, "both ranks", [output])
    cluster.out("scancel", "--batch", "--signal=USR1", job)
    wait_for(lambda: {"told 0", "told 1"} <= set(output.read_text().splitlines()), 30, "both ranks to be told", [output])
    cluster.out("scancel", "--batch", "--signal=TERM", job)
    wait_for(lambda: state(cluster, job) == "FAILED", 60, "the job to end", [output])
    check("launch 1" not in output.read_text(), output.read_text())
    check(nodes_of(cluster, job), "the job had hosts")
