"""Idle checks ([idle_checks] every): restartd tries hosts that no job uses, in jobs of its own, and gives way to everybody."""

import json
import signal
import time

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import state, submit
from railcluster.rails import measure_by
from railcluster.testing import check, equal, holds, skip

NEEDS = ["restartd", "nodewatchd", "railctl", "railrun", "railcheck", "tests/doubles/libnvidia-ml.so.1", ".libs/spank_rail.so"]
OURS = "railyard-check"


def options(build):
    return Options(build=build, hosts_per_unit=2, rails=2)


class IdleChecks:
    """Hosts are tried this often, two at a time; by railcheck with a double of NVML of its own, behind these words of sh.
    Of level 2 only the time is used, minutes in which a test can hold a check: they are made at level 1."""

    def __init__(self, cluster, every, first="", level=2):
        if not cluster.yard.namespaces:
            skip("what railcheck says is of the host by its own name, which all hosts share where they are no namespaces")
        self.cluster, self.every, self.level = cluster, every, level
        self.conf = cluster.agents.conf.read_text()
        for node in cluster.nodes:
            (cluster.agents.hardware(node) / "check.state").write_text((cluster.agents.hardware(node) / "nvml.state").read_text())
        program = cluster.root / "lib" / "railcheck"
        program.unlink()
        program.write_text(f"""#!/bin/sh
{first}
export RAIL_NVML_STATE={cluster.root}/hardware/$SLURMD_NODENAME/check.state
exec {cluster.options.build}/railcheck preflight --level=1 --nvml={cluster.options.build}/tests/doubles/libnvidia-ml.so.1
""")
        program.chmod(0o755)

    def __enter__(self):
        self._configure(f'{self.conf}\n[idle_checks]\nevery = "{self.every}"\nlevel = {self.level}\nmax_at_once = 2\n')
        return self

    def __exit__(self, *failure):
        self._configure(self.conf)
        wait_for(lambda: not self.jobs(), 150, "the last idle checks to be ended", logs(self.cluster))
        measure_by(self.cluster, None)

    def _configure(self, text):
        self.cluster.agents.conf.write_text(text)
        self.cluster.daemons["ctl", "restartd"].kill(signal.SIGHUP)

    def jobs(self):
        """Those there are, and the host of each."""
        text = self.cluster.out("squeue", "-h", "-n", OURS, "-t", "PD,R", "-o", "%i %k")
        jobs = [line.split() for line in text.splitlines()]
        check(len(jobs) <= 2, f"more at a time than may be: {text}")
        return {job: host for job, _, host in jobs}

    def wait_for_two(self):
        """Two that run; their jobs."""
        def two():
            text = self.cluster.out("squeue", "-h", "-n", OURS, "-t", "R", "-o", "%i").split()
            return text if len(text) == 2 else None
        return wait_for(two, 60, "two idle checks to run", logs(self.cluster))


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")]


def results(cluster):
    """What railctl checks lists of GPUs, by host and component."""
    checks = json.loads(cluster.out("railctl", "--json", "checks", "--all"))
    return {(row["host"], row["component"]): row for row in checks["rows"] if row["check"].startswith("gpu.")}


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
