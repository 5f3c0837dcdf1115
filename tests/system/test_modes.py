"""What keeps restartd from acting for a time: railctl pause and go, and maintenance reservations of Slurm; and railctl plan."""

import json

from railcluster.process import wait_for
from railcluster.testing import check, equal, holds
from test_restart import NEEDS, check_moved, gang, reason  # noqa: F401


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")]


def steps(cluster):
    """What railctl plan says of all open incidents: {(state, what, key)}."""
    plan = json.loads(cluster.out("railctl", "plan", "--json"))
    return {(step["state"], step["what"], step["key"]) for incident in plan["incidents"] for step in incident["steps"]}


def test_a_pause_keeps_restartd_still_until_go(cluster):
    """A planted fault under a pause: nothing is drained or requeued, over a restart of restartd too; go: all of it is done."""
    job, nodes = gang(cluster, nodes=3, steps=100000)
    victim = nodes[1]
    try:
        said = cluster.out("railctl", "pause", "--for", "2h", "switch", "upgrade")
        holds(said, "switch upgrade; railctl go ends it", "what railctl pause prints")
        cluster.power_brake(victim, 3, True)
        wanted = {("withheld", f"drain {victim}", "pause"), ("withheld", f"requeue job {job.number}", "pause")}
        wait_for(lambda: wanted <= steps(cluster), 40, "the fault to be seen and withheld", logs(cluster))
        cluster.agents.stop("ctl", "restartd")
        cluster.agents.start_restartd()
        wait_for(lambda: cluster.run("railctl", "plan").returncode == 0 and wanted <= steps(cluster), 40,
                 "the pause to outlive restartd", logs(cluster))
        check(cluster.out("railctl", "status").startswith("PAUSED for all hosts by root until "), "railctl status begins otherwise")
        equal((job.seen().restarts, "drain" in cluster.node_states()[victim]), (0, False), "what was done under a pause")
        refused = cluster.run("railctl", "pause", "--for", "5s", "too short")
        check(refused.returncode != 0 and "a pause lasts from" in refused.stderr, f"a pause of 5 s: {refused.stderr}")
    finally:
        cluster.out("railctl", "go")
    check_moved(cluster, job, victim, seconds=90)
    holds(reason(cluster, victim), "railyard[", f"reason of {victim}")
    check("PAUSED" not in cluster.out("railctl", "status"), "still paused after go")


def test_a_host_in_a_maintenance_reservation_is_left_alone(cluster):
    """slurmctld's reservation with MAINT covers a host: its fault is none, and is handled when the reservation is deleted."""
    victim, other = cluster.nodes[0], cluster.nodes[1]
    cluster.out("scontrol", "create", "reservation", "ReservationName=service", "starttime=now", "duration=60", "user=root",
                "flags=maint,ignore_jobs", f"nodes={victim}")
    try:
        wait_for(lambda: f"in maintenance by the resource manager: {victim}" in cluster.out("railctl", "plan"), 30,
                 "restartd to see the reservation", logs(cluster))
        cluster.power_brake(victim, 3, True)
        cluster.power_brake(other, 3, True)
        wait_for(lambda: "railyard[" in reason(cluster, other), 40, f"{other}, in no reservation, to be drained", logs(cluster))
        equal(reason(cluster, victim), "none", f"reason of {victim}, in the reservation")
    finally:
        cluster.out("scontrol", "delete", "ReservationName=service")
    wait_for(lambda: "railyard[" in reason(cluster, victim), 40, f"{victim} to be drained when the reservation is gone", logs(cluster))
    for node in (victim, other):
        cluster.power_brake(node, 3, False)
