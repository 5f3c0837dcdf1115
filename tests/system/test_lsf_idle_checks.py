"""Idle checks under LSF: as under Slurm (test_idle_checks.py), by jobs in an exclusive queue. LSF is a double (tests/doubles/lsf)."""

import time

from railcluster.cluster import Options
from railcluster.idle_checks import IdleChecks, logs, results
from railcluster.lsf import bsub
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "railctl", "railrun", "railcheck", "tests/doubles/libnvidia-ml.so.1", "esub.rail", "rail-lsf-run"]
QUEUE = "railcheck"


def options(build):
    return Options(build=build, hosts_per_unit=2, rails=2, lsf=True)


def idle_checks(cluster, every, **how):
    """restartd starts anew, with the programs of the build for the jobs that it submits."""
    cluster.agents.stop("ctl", "restartd")
    cluster.agents.start_restartd({"RAIL_RAILCHECK": str(cluster.root / "lib" / "railcheck")})
    cluster.agents.wait_heard()
    return IdleChecks(cluster, every, queue=QUEUE, **how)


def test_idle_hosts_are_tried_and_what_is_bad_is_named(cluster):
    checks = idle_checks(cluster, "1h", level=1)
    bad = cluster.nodes[2]
    with (cluster.agents.hardware(bad) / "check.state").open("a") as file:
        file.write("3.reasons=0x80\n")  # its power brake, which its agent does not see
    with checks:
        def all_tried():
            checks.jobs()
            return {host for host, _ in results(cluster)} == set(cluster.nodes)
        wait_for(all_tried, 180, "all hosts to be tried", logs(cluster), every=0.3)
        row = results(cluster)[bad, "gpu3"]
        equal((row["check"], row["verdict"]), ("gpu.throttle.hw_power_brake", "bad"), "what was found")
        holds(" ".join(row["signs"]), "an idle check says so: avoided", "what follows")
        equal([at for at, one in results(cluster).items() if one["verdict"] == "bad"], [(bad, "gpu3")], "all that is bad")
    equal(cluster.lsf.hosts()[bad], "ok", "an idle check closed a host")


def test_idle_checks_give_way_to_a_gang(cluster):
    with idle_checks(cluster, "1s", first="exec sleep 3600") as checks:
        checks.wait_for_two()
        began = time.monotonic()
        job = bsub(cluster, len(cluster.nodes), "sleep 5")
        job.wait("RUN", 150)
        print(f"    a gang that needs the hosts of two idle checks runs after {time.monotonic() - began:.1f} s")
        check(not checks.jobs(), "an idle check runs beside the gang")
        job.wait("DONE", 60)
        holds(cluster.log("ctl", "restartd").read_text(), "its idle check is ended: a job waits for hosts", "restartd's log")
