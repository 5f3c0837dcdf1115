"""Some hundred jobs of all shapes through the plugins in slurmctld; `make soak` runs thousands, with sanitizers."""

import soak
from railcluster.hosts import permitted
from railcluster.testing import check, need, skip
from railcluster.userland import debian13

NEEDS = ["railtopo", ".libs/select_rail.so", ".libs/job_submit_rail.so", ".libs/spank_rail.so"]
JOBS = 300


def run(build, root):
    if reason := permitted():
        skip(reason)
    report = soak.soak(build, root, None, JOBS)
    print("      " + soak.tell("soak", report).replace("\n", "\n      "), flush=True)
    check(report.started >= JOBS / 10, f"only {report.started} of {report.jobs} jobs started")
    check(report.looked > 0, "no job with a hard span was seen")


def test_soak(build):
    """slurmctld lives, spans hold and memory stays while jobs, nodes and the fabric file change."""
    run(build, None)


def test_soak_2411(build):
    """The same in Slurm 24.11."""
    need(build, ["second/.libs/topology_rail.so"])
    run(build, debian13().root)
