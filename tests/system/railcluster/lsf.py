"""The double of an LSF engine (tests/doubles/lsf) instead of Slurm's daemons: its hosts are those of the yard.

It runs in the yard next to the hosts and enters them to start a job's processes. LSF's administrator is root here, like
restartd's user; gangs go through the queues "gang" and "gangrun" (railyard-lsf(7)).
"""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Optional

from .jobs import Job, Seen
from .process import wait_for
from .speed import slowness

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
# The recommended timing (railyard-lsf(7)), as far as the double supports it; its commands and its clock are real.
QUEUES = [
    {"name": "gangrun", "priority": 45, "users": ["root"], "rerunnable": True},
    {"name": "gang", "priority": 40, "rerunnable": True, "res_req": "select[planned>0]", "fairshare": {"default": 1}},
    {"name": "normal", "priority": 30},
    {"name": "railcheck", "priority": 1, "users": ["root"], "exclusive": True},  # idle checks
]


# mpirun refuses root, as which all runs here, unless both are set.
MPIRUN = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def _timing() -> dict:
    """On a slow machine a silent host is given up later, by exchanges of 5 s: its agent needs more time."""
    return {"timing": {"HOST_INACTIVITY_LIMIT": 2 + round(4 * (slowness() - 1))}} if slowness() > 1 else {}


class Lsf:
    def __init__(self, cluster):
        self.cluster = cluster
        self.folder: Path = cluster.root / "lsf"
        self.bindir = self.folder / "bin"

    def _queues(self) -> list[dict]:
        """Nothing except the hold keeps gangs in their queue from starting, and no other queue starts them."""
        if self.cluster.options.railyard.get("lsf.gangs_wait") != '"held"':
            return QUEUES
        return [{key: value for key, value in queue.items() if key != "res_req"} for queue in QUEUES if queue["name"] != "gangrun"]

    def railyard(self) -> dict[str, str]:
        """The settings for railyard.conf."""
        return {"restartd.resource_manager": '"lsf"', "lsf.bindir": f'"{self.bindir}"'}

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        enter = self.folder / "enter"
        enter.write_text(ENTER.format(folder=self.folder))
        enter.chmod(0o755)
        hosts = [{"name": node, "slots": SLOTS, "prefix": [str(enter), node]} for node in self.cluster.nodes]
        esub = self.cluster.options.build.resolve() / "esub.rail"
        pretended = self.cluster.options.cloud  # no hosts: jobs are only states, and keep running
        if pretended:
            hosts = [{"name": node, "slots": SLOTS} for node in self.cluster.nodes]
        for node in [] if pretended else self.cluster.nodes:
            self._note_init(node)
        what = {"conf": str(self._write_conf()), "prefix": [str(enter), "%h"]} if self.cluster.options.lsf_files else \
            {"master": "ctl", "administrators": ["root"], "hosts": hosts, "groups": {}, "queues": self._queues()}
        (self.folder / "lsf.json").write_text(json.dumps({
            **what, **_timing(), "first_request_is_administrators": False, "run": not pretended, "duration": 86400.0}, indent=1))
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

    def _write_conf(self) -> Path:
        """The engine's own files: the minimum of an installation, followed by the export of railtopo, as described in
        railyard-lsf(7)."""
        folder, names = self.folder / "conf", ["ctl", *self.cluster.nodes]
        folder.mkdir(exist_ok=True)
        own = {
            "lsf.shared": "Begin Cluster\nClusterName\nyard\nEnd Cluster\n",
            "lsf.cluster.yard": "Begin ClusterAdmins\nAdministrators = root\nEnd ClusterAdmins\n"
                                "Begin Host\nHOSTNAME model type server\n" + "".join(f"{name} ! ! 1\n" for name in names) + "End Host\n",
            "lsb.hosts": f"Begin Host\nHOST_NAME MXJ\ndefault {SLOTS}\nEnd Host\n",
            "lsb.queues": "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nEnd Queue\n"}
        placed = re.findall(r"^\.It Pa rail\.(\w+) Ta Pa (\S+)", (SOURCE / "man" / "railyard-lsf.7").read_text(), re.M)
        for part, target in placed:
            target = target + "yard" if target.endswith(".") else target
            words = ["--format", "lsf" if part == "hosts" else f"lsf-{part}", *(["--admin", "root"] if part == "queues" else [])]
            exported = subprocess.run([self.cluster.options.build / "railtopo", "export", self.cluster.agents.fabric, *words], check=True,
                                      stdout=subprocess.PIPE, text=True)
            (folder / target).write_text(own.pop(target, "") + exported.stdout)
        if own:
            raise RuntimeError(f"railyard-lsf(7) says nothing of {' '.join(own)}")
        return folder

    def _note_init(self, node: str) -> None:
        scratch = self.folder / f"init.{node}.new"
        scratch.write_text(self.cluster.yard.inner(node) + "\n")
        scratch.rename(self.folder / f"init.{node}")

    def set_host(self, node: str, state: str) -> None:
        """Sets a host's state in the double: on, off, or cut off from the network."""
        if state == "on":
            self._note_init(node)
        subprocess.run([sys.executable, "-B", str(PROGRAM), "host", str(self.folder), node, state], check=True, stdout=subprocess.DEVNULL)

    def mbatchd(self, state: str) -> None:
        """state: on, or off, when its commands wait and jobs keep running."""
        subprocess.run([sys.executable, "-B", str(PROGRAM), "mbatchd", str(self.folder), state], check=True, stdout=subprocess.DEVNULL)

    def requests(self) -> dict[str, int]:
        """The requests that mbatchd has received, by command and options."""
        return json.loads(subprocess.run([sys.executable, "-B", str(PROGRAM), "requests", str(self.folder)], check=True,
                                         stdout=subprocess.PIPE, text=True).stdout)

    def submit(self, specs: list[dict]) -> None:
        """Submits jobs in the form of bsub's last step, after the esubs: separate bsubs would take minutes for thousands."""
        for spec in specs:
            request = {"command": "submit", "spec": spec, "id": None, "cwd": "/", "environment": {}, "argv": [], "env": {}}
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
                asking.connect(str(self.folder / "socket"))
                asking.sendall(json.dumps(request).encode() + b"\n")
                answer = json.loads(asking.makefile("rb").readline())
            if answer.get("exit") != 0:
                raise RuntimeError(f"{spec}: {answer}")

    def restore(self) -> None:
        """Restores the state without jobs, every host on, plugged in and open."""
        cluster = self.cluster
        wait_for(self._all_killed, 60, "the last test's jobs to be gone", [cluster.log("ctl", "lsf")], every=0.5)
        for name in cluster.cut_cables.copy():
            cluster.cable(name, True)
        for node in cluster.nodes:
            if not cluster.yard.is_on(node):
                cluster.power_on(node)
        cluster.agents.restore()
        for node in cluster.nodes:
            cluster.run("badmin", "hopen", node)
        self.wait_idle()
        wait_for(self.known_idle, 30, "restartd to see so", [cluster.log("ctl", "restartd")])

    def known_idle(self) -> bool:
        hosts = json.loads(self.cluster.out("railctl", "status", "--json"))["hosts"]
        return all(host["state"] == "ok" for host in hosts if host["name"] in self.cluster.nodes)

    def _all_killed(self) -> bool:
        """An engine forgets requests for a job that is being moved, and can only remove a job on a lost host."""
        jobs = self.cluster.run("bjobs", "-w", "-u", "all").stdout.splitlines()[1:]
        for number, _, state in (line.split()[:3] for line in jobs):
            self.cluster.run("bkill", *(["-r"] if state == "UNKWN" else []), number)
        return not jobs

    def hosts(self) -> dict[str, str]:
        """The state of each host from bhosts."""
        rows = [line.split() for line in self.cluster.out("bhosts", "-w").splitlines()[1:]]
        return {row[0]: row[1] for row in rows if row[0] in self.cluster.nodes}

    def wait_idle(self) -> None:
        wait_for(lambda: list(self.hosts().values()) == ["ok"] * len(self.cluster.nodes), 60, "all hosts to be ok",
                 [self.cluster.log("ctl", "lsf")])


class LsfJob(Job):
    """A job in the engine, from bjobs, with the states of Slurm's jobs."""

    WORDS = {"PEND": "PENDING", "PSUSP": "PENDING", "RUN": "RUNNING", "UNKWN": "RUNNING", "DONE": "COMPLETED"}

    def bjobs(self) -> tuple[str, str, list[str]]:
        """Its state, its queue and its hosts in the order of its tasks."""
        line = self.cluster.out("bjobs", "-w", "-a", str(self.number), env={"LSB_SHORT_HOSTLIST": "1"}).splitlines()[1]
        words = line.split()
        hosts = [] if words[5] == "-" else [part.split("*")[-1] for part in words[5].split(":")]
        return words[2], words[3], hosts

    def wait(self, state: str, seconds: float = 60, queue: str = "", without: str = "") -> list[str]:
        """Waits until it is in the state, if given in the queue, and not on the host `without`; returns its hosts."""
        def there():
            now, there, hosts = self.bjobs()
            return (hosts or [""]) if now == state and queue in ("", there) and without not in hosts else None
        return wait_for(there, seconds, f"job {self.number} to be {state} {queue} {without and 'without ' + without}".strip(), self.logs())

    def seen(self) -> Seen:
        state, _, hosts = self.bjobs()
        jobs = json.loads(self.cluster.out("railctl", "status", "--json"))["jobs"]
        restarts = next((job["epoch"] for job in jobs if job["id"] == self.number), self.restarts)
        self.restarts = restarts
        return Seen(self.WORDS.get(state, "COMPLETING"), hosts if state in ("RUN", "UNKWN") else [], restarts, state, "")

    restarts = 0  # as last reported: restartd forgets a job that has ended

    def ranks(self) -> list[str]:
        return self.bjobs()[2]

    def logs(self) -> list[Path]:
        return [self.output, self.cluster.log("ctl", "restartd"), self.cluster.log("ctl", "lsf")]


def heat2d(cluster, nodes: int, steps: int, *, n: int = 512, pace_us: int = 0, ckpt: Optional[Path] = None, span: str = "unit",
           spares: int = 0, launcher: str = "mpirun", after: str = "") -> LsfJob:
    """Submits the solver, one rank per host except the spares; with a checkpoint folder it may be restarted. It writes its output
    directly: LSF would deliver it only at the end. `after`: a command after it."""
    folder = cluster.root / "scratch"
    folder.mkdir(exist_ok=True)
    number = len(list(folder.glob("heat2d-*.sh")))
    output, script = folder / f"heat2d-{number}.out", folder / f"heat2d-{number}.sh"
    output.touch()
    program = cluster.options.build / "tests" / "apps" / "heat2d"
    script.write_text(f"#!/bin/sh\necho spares $RAIL_SPARE_NODELIST >>{output}\n{'' if after else 'exec '}{launcher} -np {nodes - spares} --map-by ppr:1:node {program} --n {n} --steps {steps} --pace-us {pace_us} "
                      f">>{output} 2>&1\n{after}\n")
    script.chmod(0o755)
    flags = {"RAIL_SPAN": span, **({"RAIL_SPARES": str(spares)} if spares else {}), **({"RAIL_CKPT_DIR": str(ckpt), "RAIL_RESTART": "auto"} if ckpt else {})}
    job = bsub(cluster, nodes, str(script), env={**flags, **MPIRUN})
    return LsfJob(cluster, job.number, output)


def bsub(cluster, hosts: int, *words: str, env: Optional[dict[str, str]] = None, options: tuple[str, ...] = (), queue: str = "gang",
         user: str = "") -> LsfJob:
    """Submits a gang on this many hosts, with its output next to the cluster's other files."""
    folder = cluster.root / "scratch"
    folder.mkdir(exist_ok=True)
    os.chmod(folder, 0o1777)
    output = folder / f"lsf-{len(list(folder.glob('lsf-*')))}.out"
    said = cluster.out("bsub", "-a", "rail", "-q", queue, "-n", str(hosts * SLOTS), "-R", f"span[ptile={SLOTS}]", "-r", "-o", str(output),
                       *options, *words, env={**(env or {}), **({"LSF_DOUBLE_USER": user} if user else {})})
    return LsfJob(cluster, int(said.split("<")[1].split(">")[0]), output)
