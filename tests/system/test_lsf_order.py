"""The order in which gangs of LSF start: its users share the queue, as `bqueues -r` of the double shows it."""

import json

from railcluster.cluster import Options
from railcluster.lsf import bsub
from railcluster.process import wait_for
from railcluster.testing import equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "esub.rail", "rail-lsf-run"]
SLEEP = ("sleep", "600")
OTHER = {"LSF_DOUBLE_USER": "nobody"}


def options(build):
    return Options(build=build, hosts_per_unit=4, lsf=True)


def explained(cluster, job):
    return " | ".join(json.loads(cluster.out("railctl", "explain", str(job.number), "--json"))["placement"].get("notes", []))


def test_a_user_who_holds_nothing_goes_before_one_who_has_had_his_share(cluster):
    cluster.agents.wait_heard()
    hosts = len(cluster.nodes)
    first = bsub(cluster, hosts, *SLEEP)
    first.wait("RUN", queue="gang")
    second = bsub(cluster, hosts, *SLEEP)
    other = bsub(cluster, hosts, *SLEEP, env=OTHER)
    log = [cluster.log("ctl", "restartd")]
    wait_for(lambda: "1 submitted later by users who have had less of their shares" in explained(cluster, second), 90,
             "the shares to be read", log)
    equal(explained(cluster, other).count("before it in LSF's order"), 0, "gangs before the other user's")
    cluster.out("bkill", str(first.number))
    other.wait("RUN", queue="gang")
    equal(second.bjobs()[0], "PEND", "the state of the earlier gang")
    # Now the other one holds all.
    third = bsub(cluster, hosts, *SLEEP, env=OTHER)
    wait_for(lambda: "1 gang waits before it" in explained(cluster, third), 30, "the order to be told", log)
    cluster.out("bkill", str(other.number))
    second.wait("RUN", queue="gang")
    holds(str(third.bjobs()), "PEND", "the gang of who had his share")
