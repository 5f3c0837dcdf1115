"""The double of an LSF engine (tests/doubles/lsf) in place of Slurm's daemons: its hosts are those of the yard.

It runs in the yard beside the hosts and enters them to start a job's processes. LSF's administrator is root here,
as is restartd; gangs go through the queues "gang" and "gangrun" (railyard-lsf(7)).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from .process import wait_for

SOURCE = Path(__file__).resolve().parents[3]
PROGRAM = SOURCE / "tests" / "doubles" / "lsf" / "lsf_double"
ENTER = """\
#!/bin/sh
# Starts a command in a host, whose first process is another one after each boot.
read -r init <{folder}/init.$1 || exit 255
shift
exec nsenter -t "$init" -n -u -p -m -i -- "$@"
"""
SLOTS = 8
# The recommended timing (railyard-lsf(7)), as far as the double knows it; its commands are real, so is its clock.
QUEUES = [
    {"name": "gangrun", "priority": 45, "users": ["root"], "rerunnable": True},
    {"name": "gang", "priority": 40, "rerunnable": True, "res_req": "select[planned>0]"},
    {"name": "normal", "priority": 30},
]


class Lsf:
    def __init__(self, cluster):
        self.cluster = cluster
        self.folder: Path = cluster.root / "lsf"
        self.bindir = self.folder / "bin"

    def railyard(self) -> dict[str, str]:
        """What railyard.conf says of it."""
        return {"restartd.resource_manager": '"lsf"', "lsf.bindir": f'"{self.bindir}"'}

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        enter = self.folder / "enter"
        enter.write_text(ENTER.format(folder=self.folder))
        enter.chmod(0o755)
        hosts = [{"name": node, "slots": SLOTS, "prefix": [str(enter), node]} for node in self.cluster.nodes]
        esub = self.cluster.options.build.resolve() / "esub.rail"
        for node in self.cluster.nodes:
            self._note_init(node)
        (self.folder / "lsf.json").write_text(json.dumps({
            "master": "ctl", "administrators": ["root"], "hosts": hosts, "groups": {}, "queues": QUEUES,
            "first_request_is_administrators": False}, indent=1))
        log = self.cluster.log("ctl", "lsf")
        with open(log, "ab") as out:
            process = subprocess.Popen([*self.cluster.yard.yard_prefix(), sys.executable, "-B", str(PROGRAM), "serve", str(self.folder)],
                                       env=self.cluster.environment("ctl"), cwd="/", stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                       start_new_session=True)
        wait_for(lambda: "ready" in log.read_text() or process.poll() is not None, 20, "LSF's double to answer", [log])
        if process.poll() is not None:
            raise RuntimeError(f"LSF's double: {log.read_text()}")
        if esub.exists():
            (self.folder / "sbin" / "esub.rail").symlink_to(esub)

    def _note_init(self, node: str) -> None:
        scratch = self.folder / f"init.{node}.new"
        scratch.write_text(self.cluster.yard.inner(node) + "\n")
        scratch.rename(self.folder / f"init.{node}")

    def set_host(self, node: str, state: str) -> None:
        """Tells the double what became of a host: on, off, or cut off from the network."""
        if state == "on":
            self._note_init(node)
        subprocess.run([sys.executable, "-B", str(PROGRAM), "host", str(self.folder), node, state], check=True, stdout=subprocess.DEVNULL)

    def restore(self) -> None:
        """No jobs, every host on, plugged in and open."""
        cluster = self.cluster
        cluster.run("bkill", "-r", "-u", "all", "0")
        for name in cluster.cut_cables.copy():
            cluster.cable(name, True)
        for node in cluster.nodes:
            if not cluster.yard.is_on(node):
                cluster.power_on(node)
        cluster.agents.restore()
        for node in cluster.nodes:
            cluster.run("badmin", "hopen", node)
        self.wait_idle()

    def hosts(self) -> dict[str, str]:
        """bhosts' word for each host."""
        rows = [line.split() for line in self.cluster.out("bhosts", "-w").splitlines()[1:]]
        return {row[0]: row[1] for row in rows if row[0] in self.cluster.nodes}

    def wait_idle(self) -> None:
        wait_for(lambda: list(self.hosts().values()) == ["ok"] * len(self.cluster.nodes), 60, "all hosts to be ok",
                 [self.cluster.log("ctl", "lsf")])


class LsfJob:
    """A job on it, as bjobs shows it."""

    def __init__(self, cluster, number: int, output: Path):
        self.cluster, self.number, self.output = cluster, number, output

    def seen(self) -> tuple[str, str, list[str]]:
        """Its state, its queue and its hosts in the order of its tasks."""
        line = self.cluster.out("bjobs", "-w", "-a", str(self.number), env={"LSB_SHORT_HOSTLIST": "1"}).splitlines()[1]
        words = line.split()
        hosts = [] if words[5] == "-" else [part.split("*")[-1] for part in words[5].split(":")]
        return words[2], words[3], hosts

    def wait(self, state: str, seconds: float = 60, queue: str = "", without: str = "") -> list[str]:
        """Until it is in the state, and where one is named in the queue, and not on the host; its hosts."""
        def there():
            now, there, hosts = self.seen()
            return (hosts or [""]) if now == state and queue in ("", there) and without not in hosts else None
        logs = [self.cluster.log("ctl", "restartd"), self.cluster.log("ctl", "lsf")]
        return wait_for(there, seconds, f"job {self.number} to be {state} {queue} {without and 'without ' + without}".strip(), logs)


def bsub(cluster, hosts: int, *words: str, env: dict[str, str] | None = None, options: tuple[str, ...] = (), queue: str = "gang") -> LsfJob:
    """A gang on so many hosts, with its output beside the cluster's other files."""
    folder = cluster.root / "scratch"
    folder.mkdir(exist_ok=True)
    os.chmod(folder, 0o1777)
    output = folder / f"lsf-{len(list(folder.glob('lsf-*')))}.out"
    said = cluster.out("bsub", "-a", "rail", "-q", queue, "-n", str(hosts * SLOTS), "-R", f"span[ptile={SLOTS}]", "-r", "-o", str(output),
                       *options, *words, env=env)
    return LsfJob(cluster, int(said.split("<")[1].split(">")[0]), output)
