"""A host is lost and its job ends while no restartd runs, and slurmctld has forgotten the job when restartd is back: it is
submitted again from its own script, as its user's, unless its user had cancelled it."""

import json
import signal

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import fields, nodes_of
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "railctl", ".libs/spank_rail.so", ".libs/job_submit_rail.so"]
USER = "5"  # games, of every Debian

# Ends when the test says so. What it writes down: its job, whose folder of checkpoints it takes over, an argument and a
# variable.
SCRIPT = """#!/bin/sh
#SBATCH --restart=auto
echo "$SLURM_JOB_ID ${{RAIL_CKPT_TAKE_OVER-none}} $1 $WORD" >>{folder}/starts
until [ -e {folder}/go ]; do sleep 0.1; done
rm {folder}/go
exit 3
"""


def options(build):
    return Options(build, units=1, hosts_per_unit=4, cred_expire=5, slurmd_timeout=10, accounting=True, settings={"MinJobAge": "2"},
                   railyard={"restartd.max_drained_percent": "100"})


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")]


def as_user(cluster, *command):
    result = cluster.run("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command)
    equal(result.returncode, 0, f"{' '.join(command)}: {result.stderr}")
    return result.stdout.strip()


def queued(cluster):
    return cluster.out("squeue", "-h", "-o", "%i").split()


def kept(cluster, job):
    return cluster.root / "state" / "kept" / job


class Loss:
    """A user's job of two nodes that runs, and what was kept of it."""

    def __init__(self, cluster, name):
        self.cluster, self.folder = cluster, cluster.root / name
        self.folder.mkdir()
        self.folder.chmod(0o777)
        script = self.folder / "train.sh"
        script.write_text(SCRIPT.format(folder=self.folder))
        self.job = as_user(cluster, "env", "WORD=word", "sbatch", "--parsable", "-N2", "-J", name, "-D", str(self.folder), "-o",
                           "out", str(script), "first")
        wait_for(lambda: self.starts() and kept(cluster, self.job).exists(), 60, f"the start of job {self.job}", logs(cluster))
        self.victim = nodes_of(cluster, self.job)[1]

    def starts(self):
        path = self.folder / "starts"
        return path.read_text().splitlines() if path.exists() else []

    def lose(self, end):
        """A host of it is lost without a restartd, `end` ends it, and slurmctld forgets it."""
        self.cluster.agents.wait_heard()
        self.cluster.agents.stop("ctl", "restartd")
        self.cluster.power_off(self.victim)
        end()
        wait_for(lambda: self.cluster.run("scontrol", "show", "job", self.job).returncode, 150, f"job {self.job} to be forgotten",
                 logs(self.cluster))
        self.cluster.agents.start_restartd()

    def script_ends(self):
        (self.folder / "go").touch()

    def submitted_again(self):
        """The number of the job that is there in its place."""
        wait_for(lambda: queued(self.cluster), 90, f"job {self.job} to be submitted again", logs(self.cluster))
        jobs = queued(self.cluster)
        check(len(jobs) == 1 and jobs[0] != self.job, f"jobs {jobs} after job {self.job}")
        equal(fields(self.cluster, jobs[0])["UserId"].split("(")[1], f"{USER})", f"user of job {jobs[0]}")
        return jobs[0]

    def runs_again(self, job):
        wait_for(lambda: len(self.starts()) > 1, 60, f"job {job} to start", logs(self.cluster))
        equal(self.starts(), [f"{self.job} none first word", f"{job} {self.job} first word"], "starts")
        check(self.victim not in nodes_of(self.cluster, job), f"job {job} runs on {self.victim}")

    def told(self, job):
        answer = json.loads(self.cluster.out("railctl", "explain", job, "--json"))
        return "\n".join(note["text"] for note in answer["timeline"])

    def end(self, job):
        """It is cancelled, and nothing is submitted any more; the host is given back."""
        as_user(self.cluster, "scancel", job)
        wait_for(lambda: not any((self.cluster.root / "state" / "kept").iterdir()), 60, "nothing to be kept any more",
                 logs(self.cluster))
        self.give_back()

    def give_back(self):
        self.cluster.power_on(self.victim)
        wait_for(lambda: self.cluster.run("railctl", "resume", self.victim).returncode == 0, 90, f"{self.victim} to be resumed",
                 logs(self.cluster))
        equal(queued(self.cluster), [], "jobs")


def test_a_job_that_slurm_has_forgotten_is_submitted_again(cluster):
    loss = Loss(cluster, "forgotten")
    loss.lose(loss.script_ends)
    job = loss.submitted_again()
    loss.runs_again(job)
    holds(loss.told(loss.job), f"job {loss.job} was submitted again as job {job}", "explain of the old job")
    holds(loss.told(job), f"job {job} is job {loss.job} submitted again", "explain of the new job")
    holds(cluster.out("squeue", "-h", "-o", "%k"), f"railyard: job {loss.job} again, from its beginning without {loss.victim}",
          "comment")
    holds(cluster.out("scontrol", "show", "job", job), "railyard: restart=auto", "flags of the new job")
    loss.end(job)


def test_a_job_that_its_user_cancelled_meanwhile_stays_so(cluster):
    loss = Loss(cluster, "cancelled")
    loss.lose(lambda: as_user(cluster, "scancel", loss.job))
    wait_for(lambda: not kept(cluster, loss.job).exists(), 90, "accounting to say so", logs(cluster))
    wait_for(lambda: "railyard[" in cluster.out("sinfo", "-h", "-n", loss.victim, "-o", "%E"), 90, f"{loss.victim} to be drained",
             logs(cluster))
    loss.give_back()


def test_where_nobody_knows_how_it_ended_its_user_decides(cluster):
    """Without accounting a job that its user had cancelled looks like any other: it waits for that word."""
    loss = Loss(cluster, "unknown")
    cluster.daemons["ctl", "slurmdbd"].kill(signal.SIGKILL)
    try:
        loss.lose(loss.script_ends)
        job = loss.submitted_again()
        equal(fields(cluster, job)["Reason"], "JobHeldUser", f"why job {job} waits")
        holds(cluster.out("scontrol", "show", "job", job), "scontrol release starts it, scancel drops it", "what its user is told")
        holds(loss.told(loss.job), f"nobody knows whether its user had cancelled job {loss.job}", "explain")
        as_user(cluster, "scontrol", "release", job)
        loss.runs_again(job)
        loss.end(job)
    finally:
        cluster.accounting.start_slurmdbd()
