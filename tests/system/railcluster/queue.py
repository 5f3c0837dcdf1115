"""Jobs as tests submit and watch them, and what the controller logs of them."""

import contextlib
import datetime
import re
import signal

from .process import wait_for
from .testing import check, equal

SLEEP = "sleep 600"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def submit(cluster, *flags, script=SLEEP, env=None):
    """The id of a new batch job."""
    return cluster.out("sbatch", "--parsable", "-o", f"{cluster.root}/%j.out", *flags, "--wrap", script, env=env)


def fields(cluster, job):
    """What scontrol shows of a job."""
    text = cluster.out("scontrol", "-o", "show", "job", job)
    return dict(word.split("=", 1) for word in text.split(" ") if "=" in word)


def comment(cluster, job):
    found = re.search(r"^ *AdminComment=(.*)$", cluster.out("scontrol", "show", "job", job), re.MULTILINE)
    return found.group(1).strip() if found else ""


def asked(cluster, job):
    """The comment without why the job waits, which restartd adds where a machine takes its time."""
    return comment(cluster, job).split("; railyard-why: ")[0]


def nodes_of(cluster, job):
    return cluster.out("scontrol", "show", "hostnames", fields(cluster, job)["NodeList"]).split()


def state(cluster, job):
    return fields(cluster, job)["JobState"]


def output_of(cluster, *flags, script, env=None, seconds=90):
    """What a batch job prints, once it has completed. sbatch -W looks only after 2, 4, 8, 16 and 32 seconds."""
    job = submit(cluster, *flags, script=script, env=env)
    wait_for(lambda: state(cluster, job) not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"), seconds,
             f"job {job} to end", [cluster.root / f"{job}.out", cluster.log("ctl", "slurmctld")])
    out = cluster.root / f"{job}.out"
    text = out.read_text() if out.exists() else ""
    found = state(cluster, job)
    check(found == "COMPLETED", f"job {job}, {' '.join(flags)}: {found}: {text}")
    return text


def cancel(cluster, *jobs):
    """Cancels jobs, and returns when their hosts are done with them.

    A host reports it once and gets no answer. A report that slurmctld misses it asks for again after KillWait and twice
    MessageTimeout, when it next looks, each minute (re_kill_job() in Slurm's job_mgr.c): 65 s to 125 s here.
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
    """The end of a job lets the main scheduler look at all jobs; returns when one that came later has run."""
    cluster.out("srun", "-N1", "-t1", "true")


def seconds_of(text):
    """A time as scontrol shows it, in seconds."""
    return int(datetime.datetime.fromisoformat(text).timestamp())


def running_on(cluster, job):
    wait_state(cluster, job, "RUNNING")
    return nodes_of(cluster, job)


def units_of(cluster, nodes):
    return {index for index, unit in enumerate(cluster.units) for node in nodes if node in unit}


def fill(cluster, nodes, *flags):
    """Takes these nodes for one job."""
    job = submit(cluster, "-N", str(len(nodes)), "-w", ",".join(nodes), *flags)
    wait_state(cluster, job, "RUNNING")
    return job


def leave_five_free(cluster):
    """Each unit has five free nodes: six fit nowhere together."""
    return [fill(cluster, unit[:3]) for unit in cluster.units]


def log_lines(cluster, text):
    return [line for line in cluster.log("ctl", "slurmctld").read_text(errors="replace").splitlines() if text in line]


@contextlib.contextmanager
def told(cluster, text, count=1, exactly=True):
    """slurmctld logs `count` lines with `text` from here on, which are waited for where what this yields is called and at the
    end of the block; with `exactly` there is not one more by then."""
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
    """The error of a submission that must fail."""
    result = cluster.run(*command, env=env)
    check(result.returncode != 0, f"{' '.join(command)} was accepted")
    return result.stderr
