"""Hosts lost at random moments, under scripts that make this and that of it: no job is lost, and none starts twice."""

import json
import os
import random
import signal
import time

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import fields
from railcluster.testing import check, equal

NEEDS = ["restartd", "nodewatchd", "railctl", ".libs/spank_rail.so", ".libs/job_submit_rail.so"]

LOSSES = int(os.environ.get("RAIL_LOSSES", "12"))
# The script ends its step when it hears of a peer's loss, as mpirun does: when the test says so. The next start's does not.
STEP = """go=$RAIL_TEST_FOLDER/go-$SLURM_JOB_ID-$SLURM_RESTART_COUNT
srun sleep 600 &
until [ -e "$go" ]; do kill -0 $! || break; sleep 0.1; done
kill -KILL $!
wait $!"""
SCRIPTS = {  # what is made of that
    "its step's status": STEP,
    "success": f"{STEP}\nexit 0",
    "a status of its own": f"{STEP} || exit 3",
    "the end of set -e": f"set -e\n{STEP}\necho went on",
    "a signal": f"{STEP}\nkill -TERM $$",
    "more work": f"{STEP}\nsleep 600",
}


def options(build):
    return Options(build, hosts_per_unit=6, cred_expire=5, railyard={"restartd.max_drained_percent": "100"})


def submit(cluster, script):
    """A job of two nodes that writes down each of its starts; its number and where it does so."""
    folder = cluster.root / "losses"
    folder.mkdir(exist_ok=True)
    text = f"#!/bin/sh\nRAIL_TEST_FOLDER={folder}\necho start $SLURM_RESTART_COUNT >>{folder}/$SLURM_JOB_ID\n{script}\n"
    number = cluster.out("sbatch", "--parsable", "--restart=auto", "-N2", "-o", "/dev/null", stdin=text).split(";")[0]
    return number, folder / number


def end_step(starts):
    """The script hears of the loss."""
    starts.with_name(f"go-{starts.name}-").touch()


def started(cluster, job, starts, of):
    """Its nodes, once its script runs."""
    wait_for(lambda: fields(cluster, job)["JobState"] == "RUNNING" and starts.exists(), 60, f"{of}: its start", logs(cluster))
    return nodes_of(cluster, job)


def nodes_of(cluster, job):
    return cluster.out("scontrol", "show", "hostnames", fields(cluster, job)["NodeList"]).split()


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")]


def goes_on(cluster, job, starts, victim, of):
    """It runs once more, elsewhere; then it is cancelled, and the host is given back."""
    def runs_again():
        seen = fields(cluster, job)
        return seen["JobState"] == "RUNNING" and seen["Restarts"] == "1" and len(starts.read_text().split("\n")) > 2
    wait_for(runs_again, 120, f"{of}: to run again", logs(cluster))
    check(victim not in nodes_of(cluster, job), f"{of}: runs on {victim}")
    cluster.out("scancel", job)
    wait_for(lambda: fields(cluster, job)["JobState"] == "CANCELLED", 60, f"{of}: its end", logs(cluster))
    cluster.power_on(victim)
    wait_for(lambda: cluster.run("railctl", "resume", victim).returncode == 0, 90, f"{of}: {victim} to be resumed", logs(cluster))


def lose_one(cluster, rng, seed, number):
    what, script = rng.choice(list(SCRIPTS.items()))
    first, pause = rng.random() < 0.25, rng.random() < 0.5
    job, starts = submit(cluster, script)
    of = f"loss {number} of seed {seed}: job {job}, {what}, {'the first' if first else 'another'} host" + (", restartd late" if pause else "")
    nodes = started(cluster, job, starts, of)
    time.sleep(rng.uniform(0, 2))
    victim = nodes[0 if first else 1]
    restartd = cluster.daemons["ctl", "restartd"]
    if pause:
        restartd.kill(signal.SIGSTOP)
    try:
        cluster.power_off(victim)
        time.sleep(rng.uniform(0, 2))
        end_step(starts)
        time.sleep(rng.uniform(0, 3) if pause else 0)  # a lease lasts ten seconds
    finally:
        restartd.kill(signal.SIGCONT)
    goes_on(cluster, job, starts, victim, of)
    return job, starts, of


def test_a_script_that_goes_on_while_no_restartd_runs(cluster):
    """A host is lost and the job's step dies of it; restartd, which comes back later, takes what the script made of that for no
    end."""
    for end in ("exit 0", "exit 3"):
        job, starts = submit(cluster, f"{STEP}\n{end}")
        victim = started(cluster, job, starts, end)[1]
        known = json.loads(cluster.out("railctl", "explain", job, "--json"))["job"]  # read from Slurm then
        equal(known["state"], "running", "what restartd knows of the job")
        cluster.agents.stop("ctl", "restartd")
        cluster.power_off(victim)
        end_step(starts)
        # The lost host is waited for: COMPLETING.
        wait_for(lambda: fields(cluster, job)["JobState"] != "RUNNING", 90, f"the end of job {job}'s script", logs(cluster))
        cluster.agents.start_restartd()
        goes_on(cluster, job, starts, victim, end)


def test_losses_at_random_moments(cluster):
    seed = int(os.environ.get("RAIL_SEED", random.randrange(10**6)))
    print(f"seed {seed}, {LOSSES} losses")
    rng = random.Random(seed)
    lost = [lose_one(cluster, rng, seed, number) for number in range(LOSSES)]
    for job, starts, of in lost:
        equal((fields(cluster, job)["JobState"], starts.read_text().split("\n")), ("CANCELLED", ["start", "start 1", ""]), of)
