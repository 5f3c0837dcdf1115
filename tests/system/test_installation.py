"""slurmctld without job_submit_rail: the flags would be lost in silence, so everybody is told."""

import json
import threading

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import restart_slurmctld
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "railctl", ".libs/spank_rail.so", ".libs/job_submit_rail.so"]
LOST = "has no effect, slurmctld does not know it: JobSubmitPlugins lacks rail"
HALF = "installed half: slurmctld does not know the flags of jobs, --restart=auto among them: JobSubmitPlugins lacks rail"


def options(build):
    return Options(build, units=1, hosts_per_unit=2, settings={"JobSubmitPlugins": "require_timelimit"})


def missing(cluster):
    return json.loads(cluster.out("railctl", "status", "--json"))["installation"]["missing"]


def metric(cluster):
    page = cluster.out("curl", "-fsS", f"{cluster.agents.url}/metrics")
    return dict(line.rsplit(" ", 1) for line in page.splitlines() if line.startswith("railyard_rm_plugin{"))


def test_flags_that_nobody_knows_are_told(cluster):
    """At restartd's start, in railctl status, by a metric, in a job's story, and at each submission with a flag."""
    wait_for(lambda: missing(cluster), 20, "restartd to read slurmctld's configuration", [cluster.log("ctl", "restartd")])
    equal(len(missing(cluster)), 1, "what is missing")
    holds(cluster.out("railctl", "status"), HALF, "railctl status")
    holds(cluster.log("ctl", "restartd").read_text(), HALF, "restartd's log")
    equal(metric(cluster), {'railyard_rm_plugin{part="job_submit"}': "0", 'railyard_rm_plugin{part="placement"}': "1"}, "metrics")

    for command in (("sbatch", "--wrap", "true"), ("salloc", "true"), ("srun", "true")):
        result = cluster.run(command[0], "-N1", "-t1", "--restart=auto", "--rail-span=unit", *command[1:])
        equal(result.returncode, 0, f"{command[0]}: {result.stderr}")
        holds(result.stderr, f"--rail-span=unit, --restart=auto: {LOST}", f"{command[0]}'s user")
        equal(result.stderr.count(LOST), 1, f"how often {command[0]} says so")
    text = cluster.run("sbatch", "-N1", "-t1", "--wrap", "true", env={"RAIL_RESTART": "auto"}).stderr
    holds(text, f"--restart=auto: {LOST}", "a flag from the environment")
    equal(cluster.run("sbatch", "-N1", "-t1", "--wrap", "true").stderr, "", "a submission without a flag")
    inside = cluster.run("salloc", "-N1", "-t1", "srun", "--rail-bind=off", "true").stderr
    check(LOST not in inside, f"a step: {inside}")

    cluster.agents.stop("ctl", "restartd")
    cluster.agents.start_restartd()
    wait_for(lambda: cluster.log("ctl", "restartd").read_text().count(HALF) == 2, 20, "its next start to say so once more")


def test_a_busy_slurmctld_refuses_no_submission(cluster):
    """slurmctld stands still while a job with a flag is submitted: the job waits for it and is taken."""
    controller = cluster.daemons["ctl", "slurmctld"]
    result = []
    controller.kill(19)
    try:
        thread = threading.Thread(target=lambda: result.append(
            cluster.run("sbatch", "-N1", "-t1", "--restart=auto", "--wrap", "true", timeout=60)))
        thread.start()
        thread.join(5)
        equal(result, [], "what came of it while slurmctld stood still")
    finally:
        controller.kill(18)
    thread.join(60)
    equal(result[0].returncode, 0, result[0].stderr)


def test_the_installation_completed(cluster):
    """With the plugin in slurm.conf and slurmctld started anew nothing is missing, within restartd's minute."""
    path = cluster.slurm.conf("ctl")
    text = path.read_text()
    try:
        path.write_text(text.replace("JobSubmitPlugins=require_timelimit", "JobSubmitPlugins=require_timelimit,rail"))
        restart_slurmctld(cluster)
        wait_for(lambda: not missing(cluster), 90, "restartd to see it", [cluster.log("ctl", "restartd")], every=1)
        holds(cluster.log("ctl", "restartd").read_text(), "slurmctld is configured with all parts of Railyard now", "its log")
        equal(set(metric(cluster).values()), {"1"}, "metrics")
        check(LOST not in cluster.run("sbatch", "-N1", "-t1", "--restart=auto", "--wrap", "true").stderr, "it is still told")
    finally:
        path.write_text(text)
        restart_slurmctld(cluster)
