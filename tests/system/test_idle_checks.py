"""Idle checks ([idle_checks] every): restartd tries hosts that no job uses, in jobs of its own, and gives way to everybody."""

import signal
import time

from railcluster.cluster import Options
from railcluster.idle_checks import IdleChecks, logs, results
from railcluster.process import wait_for
from railcluster.queue import state, submit
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "railctl", "railrun", "railcheck", "tests/doubles/libnvidia-ml.so.1", ".libs/spank_rail.so"]


def options(build):
    return Options(build=build, hosts_per_unit=2, rails=2)


def test_idle_hosts_are_tried_and_what_is_bad_is_named(cluster):
    """Each host in turn, two at a time, once in its time; the one with a planted fault is named and avoided, and drained it is not."""
    checks = IdleChecks(cluster, "1h", level=1)
    bad = cluster.nodes[2]
    with (cluster.agents.hardware(bad) / "check.state").open("a") as file:
        file.write("3.reasons=0x80\n")  # its power brake, which its agent does not see
    seen = {}
    with checks:
        def all_tried():
            seen.update(checks.jobs())
            return {host for host, _ in results(cluster)} == set(cluster.nodes)
        wait_for(all_tried, 180, "all hosts to be tried", logs(cluster), every=0.3)
        equal(sorted(seen.values()), sorted(cluster.nodes), "the jobs that tried them")
        row = results(cluster)[bad, "gpu3"]
        equal((row["check"], row["verdict"]), ("gpu.throttle.hw_power_brake", "bad"), "what was found")
        holds(" ".join(row["signs"]), "an idle check says so: avoided", "what follows")
        sound = [at for at, one in results(cluster).items() if one["verdict"] == "bad"]
        equal(sound, [(bad, "gpu3")], "all that is bad")
        holds(cluster.out("railctl", "checks"), "an idle check says so: avoided", "railctl checks")
        wait_for(lambda: all(word == "idle" for word in cluster.node_states().values()), 30, "all hosts to be idle again", logs(cluster))
    holds(cluster.log("ctl", "restartd").read_text(), f"{bad}: signal: an idle check finds bad: gpu3 gpu.throttle.hw_power_brake",
          "restartd's log")


def test_an_idle_check_outlives_restartd(cluster):
    """restartd is killed while two run, and takes their results when it is back, with no third begun for their hosts."""
    go = cluster.root / "go"
    with IdleChecks(cluster, "1s", first=f"until [ -e {go} ]; do sleep 0.1; done") as checks:
        checks.wait_for_two()
        hosts = checks.jobs()
        known = {at: row["at"] for at, row in results(cluster).items()}
        cluster.daemons["ctl", "restartd"].kill(signal.SIGKILL)
        cluster.agents.start_restartd()
        equal(checks.jobs(), hosts, "the jobs after its restart")
        go.touch()
        def told():
            now = results(cluster)
            return all(any(row["at"] != known.get(at) for at, row in now.items() if at[0] == host) for host in hosts.values())
        wait_for(told, 60, "their results", logs(cluster))
    go.unlink()


def test_idle_checks_give_way_to_a_job(cluster):
    """A job that needs their hosts starts in a moment, with nothing of them left there; none begins while it waits or runs."""
    with IdleChecks(cluster, "1s", first="exec sleep 3600") as checks:
        ours = checks.wait_for_two()
        began = time.monotonic()
        job = submit(cluster, f"-N{len(cluster.nodes)}", script="squeue --steps -h -o %j; sleep 5")
        wait_for(lambda: state(cluster, job) == "RUNNING", 150, "the job to start", logs(cluster), every=0.05)
        print(f"    a job that needs the hosts of two idle checks runs after {time.monotonic() - began:.1f} s")
        equal([state(cluster, one) for one in ours], ["CANCELLED"] * 2, "the idle checks")
        wait_for(lambda: state(cluster, job) == "COMPLETED", 60, "the job to end", logs(cluster))
        check("rail-preflight" not in (cluster.root / f"{job}.out").read_text(), "a step of theirs is left beside the job")
        holds(cluster.log("ctl", "restartd").read_text(), "its idle check is ended: a job waits for hosts", "restartd's log")
