"""What restartd decides late, again, or takes back: a witness that needs its time, a bound, an exclusion."""

import json
import re
import signal

from railcluster.cluster import Options
from railcluster.jobs import heat2d
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds, skip
from test_restart import NEEDS, check_moved, gang, reason, timeline  # noqa: F401

GIVEN_UP = 30  # seconds: Slurm's own default is 300


def options(build):
    return Options(build=build, hosts_per_unit=4, slurmd_timeout=GIVEN_UP,
                   railyard={"node_loss.witness_wait": '"3s"', "placement.spare_risk": "0"})


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")]


def without_the_fabric(cluster):
    """No fabricwatchd, and a restartd that has never heard of one."""
    cluster.agents.stop("ctl", "fabricwatchd")
    cluster.agents.stop("ctl", "restartd")
    cluster.agents.forget()
    cluster.agents.start_restartd()
    wait_for(lambda: heard(cluster) == set(cluster.nodes), 30, "all agents to report", logs(cluster))


def heard(cluster):
    hosts = json.loads(cluster.out("railctl", "status", "--json"))["hosts"]
    return {host["name"] for host in hosts if host["agent"]["last_report"] and not host["agent"]["silent"]}


def excluded(cluster, job):
    return re.search(r"ExcNodeList=(\S+)", cluster.out("scontrol", "show", "job", str(job.number)))[1]


def bound(cluster, percent):
    """Another max_drained_percent, from now on."""
    conf = cluster.agents.conf
    read = cluster.log("ctl", "restartd").read_text().count("configuration read again")
    conf.write_text(re.sub(r"max_drained_percent = \d+", f"max_drained_percent = {percent}", conf.read_text()))
    cluster.daemons["ctl", "restartd"].kill(signal.SIGHUP)
    wait_for(lambda: cluster.log("ctl", "restartd").read_text().count("configuration read again") > read, 10,
             "restartd to read its configuration", logs(cluster))


def everywhere(cluster):
    """A running job on every host, with a checkpoint."""
    folder = cluster.root / "scratch" / f"all-{len(list((cluster.root / 'scratch').glob('all-*')))}"
    folder.mkdir(parents=True)
    job = heat2d(cluster, len(cluster.nodes), 100000, pace_us=20000, ckpt=folder)
    job.wait_state("RUNNING", 40)
    job.wait_checkpoint(60)
    return job


def test_a_second_witness_after_minutes(cluster):
    """No fabricwatchd, the agent dead before its host: the suspicion is dropped as others reach it, and taken up when they do not;
    then slurmctld's word counts, that its ping failed or that it gives the host up, also over a restart of restartd."""
    without_the_fabric(cluster)
    job, nodes = gang(cluster, nodes=3, steps=100000)
    victim = nodes[1]
    cluster.agents.stop(victim, "nodewatchd")
    wait_for(lambda: any("suspicion dropped" in text for _, text in timeline(cluster, victim)), 30, "the suspicion to be dropped",
             logs(cluster))
    cluster.power_off(victim)
    wait_for(lambda: cluster.node_states()[victim].endswith("*"), GIVEN_UP, "slurmctld's ping to fail", logs(cluster), every=0.1)
    equal(job.seen().restarts, 0, "restarts on the word of one ping")
    cluster.agents.stop("ctl", "restartd")
    cluster.agents.start_restartd()
    check_moved(cluster, job, victim, seconds=3 * GIVEN_UP)
    holds(reason(cluster, victim), "railyard[", f"reason of {victim}")
    told = " ".join(text for _, text in timeline(cluster, victim))
    holds(told, "reach others and not this one", "what other hosts see")
    holds(told, "second witness: the resource manager says ", "the second witness")


def test_only_the_ethernet_is_cut(cluster):
    """Nobody reaches a host whose InfiniBand links stay up: that is noticed at once. Its ranks go on, and the cable may be
    back in a moment: the job moves when slurmctld gives the host up, which would end it."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: there is no cable to cut")
    job, nodes = gang(cluster, nodes=3, steps=100000)
    victim = nodes[1]
    before = len(timeline(cluster, victim))
    cluster.yard.cable(victim, False)
    try:
        check_moved(cluster, job, victim, seconds=3 * GIVEN_UP)
        told = timeline(cluster, victim)[before:]
        seen = next(at for at, (_, text) in enumerate(told) if "reach others and not this one" in text)
        check(seen < [kind for kind, _ in told].index("decision"), f"what came first: {told}")
    finally:
        cluster.yard.cable(victim, True)


def test_status_tells_the_witnesses(cluster):
    """Which witnesses of a loss there are, and how soon they can speak: in railctl status and at restartd's start."""
    without_the_fabric(cluster)
    text = wait_for(lambda: (said := cluster.out("railctl", "status")) and "gives a silent host up" in said and said, 20,
                    "restartd to have read SlurmdTimeout", logs(cluster))
    holds(text, f"witness of a host's loss: the resource manager: gives a silent host up after {GIVEN_UP}.0 s", "railctl status")
    holds(text, "witness of a host's loss: the fabric: no sweep has come", "railctl status")
    holds(cluster.log("ctl", "restartd").read_text(), "witnesses of the loss of a host: agents: ", "restartd's log")


def test_a_job_on_every_host_waits_for_its_lost_one(cluster):
    """The lost host of a job on all of them is repaired and resumed: the job runs on all of them again."""
    job = everywhere(cluster)
    victim = cluster.nodes[5]
    cluster.power_off(victim)
    wait_for(lambda: job.seen().state == "PENDING", 4 * GIVEN_UP, "the job to wait", logs(cluster))
    wait_for(lambda: any("drain" in text for kind, text in timeline(cluster, victim) if kind == "action"), 30,
             "the host to be drained", logs(cluster))
    equal(excluded(cluster, job), "(null)", "ExcNodeList beside our drain")
    cluster.power_on(victim)
    wait_for(lambda: victim in heard(cluster), 40, f"{victim} to report again", logs(cluster))
    wait_for(lambda: cluster.run("railctl", "resume", victim).returncode == 0, 60, f"{victim} to be resumed", logs(cluster))
    seen = job.wait_state("RUNNING", 90, 1)
    equal(seen.nodes, cluster.nodes, "the job's nodes")


def test_an_exclusion_is_taken_back(cluster):
    """Where no drain is allowed the job is excluded from the bad host; when its fault is over it may run there again."""
    bound(cluster, 0)
    try:
        job = everywhere(cluster)
        victim = cluster.nodes[2]
        cluster.power_brake(victim, 3, True)
        wait_for(lambda: excluded(cluster, job) == victim, 60, "the job to be kept off the host", logs(cluster))
        wait_for(lambda: job.seen().state == "PENDING", 30, "the job to have left its hosts", logs(cluster))
        wait_for(lambda: job.seen().reason == "BadConstraints", 30, "Slurm to call the job impossible", logs(cluster))
        check("drain" not in cluster.node_states()[victim], f"{victim} was drained in spite of the bound")
        cluster.power_brake(victim, 3, False)
        seen = job.wait_state("RUNNING", 150, 1)
        equal((seen.nodes, excluded(cluster, job)), (cluster.nodes, "(null)"), "the job's nodes and exclusions")
        holds(" ".join(text for _, text in timeline(cluster, job.number)), f"let job {job.number} use {victim} again", "timeline")
    finally:
        bound(cluster, 50)
