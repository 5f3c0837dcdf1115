"""Jobs that tests submit and watch, and the controller's log about them."""

import contextlib
import datetime
import re
import signal

from .process import wait_for
from .testing import check, equal

SLEEP = "sleep 600"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def submit(cluster, *flags, script=SLEEP, env=None):
    """Submits a batch job and returns its id."""
    return cluster.out("sbatch", "--parsable", "-o", f"{cluster.root}/%j.out", *flags, "--wrap", script, env=env)


def fields(cluster, job):
    """The fields of a job from scontrol."""
    text = cluster.out("scontrol", "-o", "show", "job", job)
    return dict(word.split("=", 1) for word in text.split(" ") if "=" in word)


def comment(cluster, job):
    found = re.search(r"^ *AdminComment=(.*)$", cluster.out("scontrol", "show", "job", job), re.MULTILINE)
    return found.group(1).strip() if found else ""


def asked(cluster, job):
    """The comment without the reason for waiting, which restartd adds if a machine is slow."""
    return comment(cluster, job).split("; railyard-why: ")[0]


def nodes_of(cluster, job):
    return cluster.out("scontrol", "show", "hostnames", fields(cluster, job)["NodeList"]).split()


def state(cluster, job):
    return fields(cluster, job)["JobState"]


def output_of(cluster, *flags, script, env=None, seconds=90):
    """The output of a batch job, once it has completed. sbatch -W polls only after 2, 4, 8, 16 and 32 seconds."""
    job = submit(cluster, *flags, script=script, env=env)
    wait_for(lambda: state(cluster, job) not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"), seconds,
             f"job {job} to end", [cluster.root / f"{job}.out", cluster.log("ctl", "slurmctld")])
    out = cluster.root / f"{job}.out"
    text = out.read_text() if out.exists() else ""
    found = state(cluster, job)
    check(found == "COMPLETED", f"job {job}, {' '.join(flags)}: {found}: {text}")
    return text


def cancel(cluster, *jobs):
    """Cancels jobs, and returns when their hosts have finished with them.

    A host reports it once and gets no answer. If slurmctld misses the report it asks again after KillWait plus twice
    MessageTimeout, at its next check, every minute (re_kill_job() in Slurm's job_mgr.c): 65 s to 125 s here.
    """
    cluster.out("scancel", *jobs)
    wait_for(lambda: not cluster.out("squeue", "-h", "-j", ",".join(jobs)), 150, f"the hosts of {' '.join(jobs)} to be done with them",
             [cluster.log("ctl", "slurmctld")])


def wait_state(cluster, job, wanted, seconds=20):
    wait_for(lambda: state(cluster, job) == wanted, seconds, f"job {job} to be {wanted}", [cluster.log("ctl", "slurmctld")])


def wait_for_resources(cluster, job, seconds=20):
    wait_for(lambda: fields(cluster, job)["Reason"] == "Resources", seconds, f"job {job} to wait for resources",
             [cluster.log("ctl", "slurmctld")])


def look_at_all(cluster):
    """The end of a job makes the main scheduler examine all jobs; returns when a later one has run."""
    cluster.out("srun", "-N1", "-t1", "true")


def seconds_of(text):
    """A time from scontrol, in seconds."""
    return int(datetime.datetime.fromisoformat(text).timestamp())


def running_on(cluster, job):
    wait_state(cluster, job, "RUNNING")
    return nodes_of(cluster, job)


def units_of(cluster, nodes):
    return {index for index, unit in enumerate(cluster.units) for node in nodes if node in unit}


def fill(cluster, nodes, *flags):
    """Occupies these nodes with one job."""
    job = submit(cluster, "-N", str(len(nodes)), "-w", ",".join(nodes), *flags)
    wait_state(cluster, job, "RUNNING")
    return job


def leave_five_free(cluster):
    """Leaves five free nodes in each unit: six fit in none."""
    return [fill(cluster, unit[:3]) for unit in cluster.units]


def log_lines(cluster, text):
    return [line for line in cluster.log("ctl", "slurmctld").read_text(errors="replace").splitlines() if text in line]


@contextlib.contextmanager
def told(cluster, text, count=1, exactly=True):
    """slurmctld logs `count` lines with `text` from here on; waits for them when the yielded function is called and at the end of
    the block. With `exactly` there must not be one more by then."""
    before = len(log_lines(cluster, text))

    def new():
        return log_lines(cluster, text)[before:]

    def wait():
        wait_for(lambda: len(new()) >= count, 20, f"slurmctld to log {text!r} {count} times", [cluster.log("ctl", "slurmctld")])
    yield wait
    wait()
    if exactly:
        equal(len(new()), count, f"lines with {text!r}: {new()}")


def stop_slurmctld(cluster, number=signal.SIGTERM):
    daemon = cluster.daemons["ctl", "slurmctld"]
    daemon.kill(number)
    wait_for(lambda: not daemon.alive(), 90, "slurmctld to stop", [daemon.log])


def restart_slurmctld(cluster, number=signal.SIGTERM):
    stop_slurmctld(cluster, number)
    cluster.start_slurmctld()


def refused(cluster, *command, env=None):
    """The error message of a submission that must fail."""
    result = cluster.run(*command, env=env)
    check(result.returncode != 0, f"{' '.join(command)} was accepted")
    return result.stderr
