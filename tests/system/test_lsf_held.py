"""Gangs of LSF that wait held (bsub -H) in the queue they start from: [lsf] gangs_wait = "held"."""

import json

from railcluster.cluster import Options
from railcluster.lsf import bsub
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "esub.rail", "rail-lsf-run"]
SLEEP = ("sleep", "600")


def options(build):
    return Options(build=build, hosts_per_unit=4, lsf=True, railyard={"lsf.gangs_wait": '"held"'})


def notes(cluster, job):
    return " | ".join(note["text"] for note in json.loads(cluster.out("railctl", "explain", str(job.number), "--json"))["timeline"])


def states(cluster, job):
    """bhist's events, which name each resume and hold."""
    return cluster.out("bhist", "-l", str(job.number))


def test_a_gang_is_placed_and_leaves_a_lost_host(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, *SLEEP, env={"RAIL_SPAN": "unit", "RAIL_RESTART": "auto"})
    hosts = job.wait("RUN", queue="gang")
    check(any(set(hosts) <= set(unit) for unit in cluster.units), f"{hosts} are in one unit")
    waiting = bsub(cluster, 8, *SLEEP)
    wait_for(lambda: "free" in json.loads(cluster.out("railctl", "explain", str(waiting.number), "--json"))["placement"]["sentence"], 30,
             "why it waits", [cluster.log("ctl", "restartd")])
    equal(waiting.bjobs()[0], "PSUSP", "how the next one waits")
    cluster.out("bkill", str(waiting.number))
    cluster.power_off(hosts[1])  # not the first: LSF itself would never notice
    job.wait("RUN", 90, queue="gang", without=hosts[1])
    holds(states(cluster, job), "REQUEUE_PSUSP", "how it was requeued")
    check("has not chosen" not in notes(cluster, job), f"it never ran unplanned: {notes(cluster, job)}")


def test_the_loss_of_the_first_host(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, *SLEEP, env={"RAIL_RESTART": "auto"})
    lost = job.wait("RUN", queue="gang")[0]
    cluster.power_off(lost)
    job.wait("RUN", 120, queue="gang", without=lost)
    check("has not chosen" not in notes(cluster, job), f"it never ran unplanned: {notes(cluster, job)}")


def test_what_its_user_holds_waits_for_him(cluster):
    cluster.agents.wait_heard()
    held = bsub(cluster, 2, *SLEEP, options=("-H",))
    job = bsub(cluster, 2, *SLEEP)  # submitted later, so that the first had its chance
    job.wait("RUN", queue="gang")
    equal(held.bjobs()[0], "PSUSP", "what was submitted held")
    # Requeued by its user, held, it is his; and so it is for a restartd that was away meanwhile.
    cluster.daemons["ctl", "restartd"].kill(9)
    cluster.out("brequeue", "-H", str(job.number))
    job.wait("PSUSP")
    cluster.agents.start_restartd()
    another = bsub(cluster, 2, *SLEEP)
    another.wait("RUN", queue="gang")
    equal((held.bjobs()[0], job.bjobs()[0]), ("PSUSP", "PSUSP"), "what users hold")
    for one in (held, job):  # which makes it startable anywhere: it is held again first, or told of
        cluster.out("bresume", str(one.number))
        one.wait("RUN", queue="gang")


def test_what_is_requeued_by_hand_is_placed_again(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, *SLEEP)
    job.wait("RUN", queue="gang")
    cluster.out("brequeue", str(job.number))
    wait_for(lambda: "has been requeued" in states(cluster, job), 30, "it to be requeued", job.logs())
    job.wait("RUN", queue="gang")
