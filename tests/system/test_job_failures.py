"""Jobs that fail by themselves, or that no host can start: which start again, which are held, and what they are told."""

import json
import re
from pathlib import Path

import railcluster
from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import fields
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "railctl", ".libs/spank_rail.so", ".libs/job_submit_rail.so"]


def options(build):
    return Options(build, hosts_per_unit=6, cred_expire=5, railyard={"restartd.max_drained_percent": "100"},
                   settings={"Prolog": str(Path(railcluster.__file__).parent / "prolog")})


def submit(cluster, *flags, script):
    """A batch job of this script; its number."""
    return cluster.out("sbatch", "--parsable", "--restart=auto", "--open-mode=append", "-o", f"{cluster.root}/%A.out", *flags,
                       stdin=f"#!/bin/sh\n{script}\n").split(";")[0]


def seen(cluster, job):
    """Its state and how often it was requeued."""
    found = fields(cluster, job)
    return found["JobState"], int(found["Restarts"])


def wait_seen(cluster, job, state, restarts, seconds=90):
    wait_for(lambda: seen(cluster, job) == (state, restarts), seconds, f"job {job} to be {state} after {restarts} restarts",
             [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")], every=0.3)


def shown(cluster, job):
    """What squeue shows in its comment."""
    return cluster.out("squeue", "-h", "-j", job, "-o", "%k").splitlines()[0]


def test_exit_statuses(cluster):
    """Which jobs start again after an exit status is their users' to say; a loop of failures is held."""
    once = "test -n \"$SLURM_RESTART_COUNT\" || exit {}\nsleep 600"
    listed = submit(cluster, "-N2", "--restart-on=3,40-50", "--comment=run 7", script=once.format(45))
    parts = submit(cluster, "-N1", "--restart-on=any", ":", "-N1", script=once.format(1))
    tasks = submit(cluster, "-N1", "--restart-on=any", "--array=0-1",
                   script="test $SLURM_ARRAY_TASK_ID$SLURM_RESTART_COUNT != 1 || exit 2\nsleep 600")
    own = submit(cluster, "-N1", script="exit 3")
    over = submit(cluster, "-N1", "--restart-on=any", script="exit 93")
    loop = submit(cluster, "-N1", "--restart-on=any", "--restart-max=1", script="exit 5")

    wait_seen(cluster, listed, "RUNNING", 1)
    found = shown(cluster, listed)
    check(re.fullmatch(r"run 7; railyard: requeued from its beginning \(i-\d+: exit status 45\)", found), f"its comment: {found}")
    wait_seen(cluster, parts, "RUNNING", 1)
    wait_for(lambda: sorted(cluster.out("squeue", "-h", "-r", "-j", tasks, "-t", "running", "-O", "RestartCnt:9").split()) == ["0", "1"],
             60, "one of two tasks to run again")
    wait_seen(cluster, loop, "PENDING", 2)
    wait_for(lambda: fields(cluster, loop)["Priority"] == "0", 20, f"job {loop} to be held")
    wait_for(lambda: "railyard: held: it failed by itself 2 times without" in shown(cluster, loop), 20, "its comment to say so")
    equal([seen(cluster, job) for job in (own, over)], [("FAILED", 0)] * 2, "jobs that are over")
    holds(cluster.out("railctl", "explain", own), "failed by itself (exit status 3) and is not started again", "explain")
    equal(cluster.out("sinfo", "-h", "-R"), "", "hosts that are out of use")


def test_more_requeues_than_max_batch_requeue(cluster):
    """Slurm holds a job after five launches that failed; requeues of restartd's are none of them."""
    many = submit(cluster, "-N1", "--restart-on=5", "--restart-max=10", script="test ${SLURM_RESTART_COUNT:-0} -ge 7 || exit 5\nsleep 600")
    wait_seen(cluster, many, "RUNNING", 7, seconds=180)


def test_hosts_that_cannot_start_a_job(cluster):
    """A host whose prolog fails is drained by slurmctld, which holds the job: it is released, and starts elsewhere."""
    bad = cluster.nodes[0]
    mark = cluster.slurm.conf(bad).parent / f"prolog-fails.{bad}"
    mark.touch()
    try:
        job = submit(cluster, f"--nodelist={bad}", "-N1", script="sleep 600")
        wait_for(lambda: "Prolog" in cluster.out("sinfo", "-h", "-n", bad, "-o", "%E"), 60, f"slurmctld to drain {bad}",
                 [cluster.log("ctl", "slurmctld")])
        cluster.out("scontrol", "update", f"jobid={job}", "reqnodelist=")
        wait_seen(cluster, job, "RUNNING", 1)
        check(re.search(r"railyard: released after a start that failed \(i-\d+: ", shown(cluster, job)), shown(cluster, job))
        holds(cluster.out("railctl", "status"), "slurmctld: Prolog error", "whose drain it is")
        refused = cluster.run("railctl", "resume", bad)
        holds(refused.stderr, f"{bad} was drained by slurmctld, not by Railyard (Prolog error", "what railctl says")
        check("DRAIN" in cluster.out("scontrol", "show", "node", bad), f"{bad} is drained no more")
    finally:
        mark.unlink()


def test_a_new_journal(cluster):
    """Hosts that were drained under an earlier journal are still Railyard's, and can be resumed."""
    bad, other = cluster.nodes[:2]

    def reason(host):
        return cluster.out("sinfo", "-h", "-n", host, "-o", "%E")

    cluster.power_brake(bad, 3, True)
    wait_for(lambda: reason(bad).startswith("railyard[i-"), 60, f"{bad} to be drained", [cluster.log("ctl", "restartd")])
    number = int(re.match(r"railyard\[i-(\d+)\]", reason(bad))[1])
    cluster.agents.stop("ctl", "restartd")
    cluster.agents.forget()
    cluster.agents.start_restartd()
    wait_for(lambda: json.loads(cluster.out("railctl", "status", "--json"))["drained_by_railyard"] == 1, 30,
             "restartd to know its drain", [cluster.log("ctl", "restartd")])
    cluster.power_brake(other, 3, True)
    wait_for(lambda: reason(other).startswith("railyard[i-"), 60, f"{other} to be drained", [cluster.log("ctl", "restartd")])
    check(int(re.match(r"railyard\[i-(\d+)\]", reason(other))[1]) > number, f"{reason(bad)} and {reason(other)}")
    cluster.power_brake(bad, 3, False)
    wait_for(lambda: cluster.run("railctl", "resume", bad).returncode == 0, 60, f"{bad} to be resumed", every=1)
    wait_for(lambda: "DRAIN" not in cluster.out("scontrol", "show", "node", bad), 30, f"{bad} to be in use")
