"""Other hosts look at one whose agent is silent: a host that only the head cannot reach is not set down, one that nobody reaches is."""

import json
import re

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds, skip
from test_restart import NEEDS, actions, check_moved, gang, timeline  # noqa: F401

ASKED = "the silence to be looked into"


def options(build):
    # slurmctld pings each minute, and sets a host down after three.
    return Options(build=build, slurmd_timeout=180, railyard={"node_loss.witness_wait": '"10s"'})


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")]


def of_host(cluster, host):
    return json.loads(cluster.out("railctl", "explain", host, "--json"))["host"]


def told(cluster, host):
    return " ".join(text for _, text in timeline(cluster, host))


def way_to_head(cluster, host, works):
    """Whether anything that the host sends to restartd and slurmctld gets there; other hosts are not concerned."""
    head = f"{cluster.yard.addresses['ctl']}/32"
    cluster.out("ip", "route", "del" if works else "add", "blackhole", head, host=host)


def test_a_host_that_only_the_head_cannot_reach_lives(cluster):
    """restartd and slurmctld both lose it, other hosts reach it: its job stays, and the timeline says why."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: there is no way between them to cut")
    cluster.agents.wait_heard()
    job, nodes = gang(cluster, nodes=3, steps=100000)
    victim = nodes[1]
    way_to_head(cluster, victim, False)
    try:
        wait_for(lambda: "the host lives: its agent is dead, or its way to restartd is broken" in told(cluster, victim), 30, ASKED,
                 logs(cluster))
        # Two that reach it decide; the third may answer before that is told, or later.
        named = re.search(r"\b([23]) other hosts \(([^)]*)\)", told(cluster, victim))
        check(named, "the timeline names the hosts that reach it")
        peers = cluster.out("scontrol", "show", "hostnames", named[2]).split()
        equal(len(peers), int(named[1]), "hosts named")
        check(victim not in peers, "it looks at itself")
        holds(told(cluster, victim), "reach it", "timeline")
        # Now slurmctld's ping fails, too; peers look again.
        wait_for(lambda: of_host(cluster, victim)["not_responding"], 120, "slurmctld to miss it", logs(cluster), every=0.3)
        missed = json.loads(cluster.out("railctl", "status", "--json"))["time"]
        again = lambda: [peer for peer in of_host(cluster, victim)["peers"] if (peer.get("at") or "") > missed]  # noqa: E731
        wait_for(lambda: len(again()) >= 3, 60, "peers to look again", logs(cluster), every=0.3)
        equal({peer["saw"] for peer in again()}, {"answers"}, "what they see")
        check(victim not in [peer["host"] for peer in again()], "it looks at itself")
        holds(cluster.out("railctl", "explain", victim), "it answers", "railctl explain")
        seen = job.seen()
        equal((seen.state, seen.restarts, seen.nodes), ("RUNNING", 0, nodes), "the job")
        equal(actions(cluster), [], "actions")
    finally:
        way_to_head(cluster, victim, True)
    wait_for(lambda: not of_host(cluster, victim)["agent"]["silent"], 30, "its agent to be heard again", logs(cluster))
    check("peers" not in of_host(cluster, victim), "it is looked at still")
    equal(actions(cluster), [], "actions")


def suspected(cluster, host):
    """The open incident of the host."""
    return next(one["id"] for one in json.loads(cluster.out("railctl", "status", "--json"))["incidents"] if one["host"] == host)


def test_a_host_that_nobody_reaches_waits_for_the_next_ping_only(cluster):
    """Cut off from all, its links up: suspected for longer than witness_wait, and lost when slurmctld's ping fails, not later."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: there is no cable to cut")
    cluster.agents.wait_heard()
    job, nodes = gang(cluster, nodes=3, steps=100000)
    victim = nodes[1]
    cluster.yard.cable(victim, False)  # of the management network alone
    try:
        wait_for(lambda: "reach others and not this one" in told(cluster, victim), 60, ASKED, logs(cluster))
        before = suspected(cluster, victim)
        cluster.agents.stop("ctl", "restartd")
        cluster.agents.start_restartd()
        equal(suspected(cluster, victim), before, "the incident after a new start of restartd")
        check_moved(cluster, job, victim, seconds=150)
        timeline = json.loads(cluster.out("railctl", "explain", victim, "--json"))["timeline"]
        equal({note["incident"] for note in timeline if "second witness" in note["text"]}, {before}, "the incident of the loss")
        check("suspicion dropped" not in told(cluster, victim), f"the timeline says {told(cluster, victim)}")
        check("the resource manager says DOWN" not in told(cluster, victim), "slurmctld gave it up first")
        cluster.out("scancel", str(job.number))  # Slurm knows its steps by number only: the host still has the former one
    finally:
        cluster.yard.cable(victim, True)
