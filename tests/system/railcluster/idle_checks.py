"""Idle checks on a cluster: their configuration, their jobs and their results."""

import json
import signal

from .process import wait_for
from .rails import measure_by
from .testing import check, skip

OURS = "railyard-check"


class IdleChecks:
    """Hosts are checked this often, two at a time, by railcheck with its own double of NVML, after the shell commands `first`.
    Only the time limit of level 2 is used, minutes in which a test can hold a check: the checks run at level 1."""

    def __init__(self, cluster, every, first="", level=2, queue=""):
        if not cluster.yard.namespaces:
            skip("what railcheck says is of the host by its own name, which all hosts share where they are no namespaces")
        self.cluster, self.every, self.level, self.queue = cluster, every, level, queue
        self.conf = cluster.agents.conf.read_text()
        for node in cluster.nodes:
            (cluster.agents.hardware(node) / "check.state").write_text((cluster.agents.hardware(node) / "nvml.state").read_text())
        program = cluster.root / "lib" / "railcheck"
        program.unlink()
        program.write_text(f"""#!/bin/sh
{first}
export RAIL_NVML_STATE={cluster.root}/hardware/$(hostname)/check.state
exec {cluster.options.build}/railcheck preflight --level=1 --nvml={cluster.options.build}/tests/doubles/libnvidia-ml.so.1
""")
        program.chmod(0o755)

    def __enter__(self):
        self._configure(f'{self.conf}\n[idle_checks]\nevery = "{self.every}"\nlevel = {self.level}\nmax_at_once = 2\n'
                        f'partition = "{self.queue}"\n')
        return self

    def __exit__(self, *failure):
        self._configure(self.conf)
        wait_for(lambda: not self.jobs(), 150, "the last idle checks to be ended", logs(self.cluster))
        measure_by(self.cluster, None)

    def _configure(self, text):
        self.cluster.agents.conf.write_text(text)
        self.cluster.daemons["ctl", "restartd"].kill(signal.SIGHUP)

    def jobs(self):
        """The existing jobs, and the host of each; under LSF the running ones."""
        if self.cluster.lsf:
            rows = [line.split() for line in self.cluster.run("bjobs", "-w", "-u", "all", "-q", self.queue).stdout.splitlines()]
            jobs = {row[0]: row[5] for row in rows if len(row) > 6 and row[2] == "RUN" and row[6] == OURS}
            check(len(jobs) <= 2, f"more at a time than may be: {rows}")
            return jobs
        text = self.cluster.out("squeue", "-h", "-n", OURS, "-t", "PD,R", "-o", "%i %k")
        jobs = [line.split() for line in text.splitlines()]
        check(len(jobs) <= 2, f"more at a time than may be: {text}")
        return {job: host for job, _, host in jobs}

    def wait_for_two(self):
        """Waits for two running jobs, and returns them."""
        def two():
            running = list(self.jobs()) if self.cluster.lsf else \
                self.cluster.out("squeue", "-h", "-n", OURS, "-t", "R", "-o", "%i").split()
            return running if len(running) == 2 else None
        return wait_for(two, 60, "two idle checks to run", logs(self.cluster))


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "lsf" if cluster.lsf else "slurmctld")]


def results(cluster):
    """What railctl checks lists for GPUs, by host and component."""
    checks = json.loads(cluster.out("railctl", "--json", "checks", "--all"))
    return {(row["host"], row["component"]): row for row in checks["rows"] if row["check"].startswith("gpu.")}
