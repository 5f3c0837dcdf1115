"""The cluster: a controller's host and the compute nodes, and the faults that can be injected."""

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Callable, Optional, Union

from .accounting import Accounting
from .agents import SOURCE, Agents
from .fabric import Fabric
from .hosts import NETWORK, Yard, permitted
from .lsf import Lsf
from .plain import PlainYard, free_port
from .process import Pid, become_subreaper, tail, wait_for
from .slurm import Slurm
from .speed import slowness
from .testing import skip
from .userland import Userland

CONTROLLER = "ctl"
BACKUP = "ctl2"
DECIDING = ("slurmctld", "restartd", "lsf")  # labels of daemons
PATHS = ("build", "userland")  # of the options
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# For MPI programs. Ranks share this machine's few cores, so a waiting rank must yield. And if Slurm 22.05 uses the ring for
# PMIx's first fence, then in one of sixty starts with six ranks on a busy machine, a rank leaves MPI_Init and sends while another
# still waits in that fence: Open MPI 4.1 then calls a receiver that does not exist yet, and crashes. With the tree, none of 440
# starts did.
MPI = {"OMPI_MCA_mpi_yield_when_idle": "1", "SLURM_PMIX_FENCE": "tree"}
RECORD = "cluster.json"


@dataclasses.dataclass
class Options:
    """The cluster to build. `build` is Railyard's build folder; None gives stock Slurm, without a fabric."""

    build: Optional[Path]
    pods: int = 1
    units: int = 2             # per pod
    hosts_per_unit: int = 8
    rails: int = 8
    tied: bool = True          # ends with the process that made it
    plain: bool = False        # plain processes even where namespaces are permitted
    slurmd_timeout: int = 300  # Slurm's own default
    cred_expire: Optional[int] = None
    railyard: dict[str, str] = dataclasses.field(default_factory=dict)  # "table.key" -> TOML value
    settings: dict[str, str] = dataclasses.field(default_factory=dict)  # keys of slurm.conf
    userland: Optional[Path] = None  # another Debian's root directory (userland.py): only Slurm and its plugins
    plugins: str = ""                # the build's folder of plugins for it, such as slurm-25.11; second/ if empty
    topology_yaml: str = ""          # if set, Slurm's own topology plugins are used, and Railyard's under their names
    cloud: bool = False              # only the controller, nodes without slurmds; no agents
    backup: bool = False             # a second controller, on its own host
    slurm_user: str = "root"         # SlurmUser, and restartd's
    accounting: bool = False         # slurmdbd, and its database (accounting.py)
    lsf: bool = False                # the double of an LSF engine instead of Slurm's daemons (lsf.py)
    lsf_files: bool = False          # the engine reads its own files, as exported by railtopo

    def shared(self) -> list[Path]:
        """The folders that all hosts read, as from a shared file system."""
        return [SOURCE, *([self.build.resolve()] if self.build else [])]


@dataclasses.dataclass
class Daemon:
    """A process that we started; `pid` is the program itself, not the nsenter that started it."""

    host: str
    label: str
    pid: Pid
    log: Path

    def alive(self) -> bool:
        return self.pid.alive()

    def kill(self, number: int) -> None:
        parent = self.pid.parent()
        self.pid.kill(number)
        # nsenter stops itself when its child is stopped, and a stopped nsenter never reaps its child.
        if number == signal.SIGCONT and parent:
            parent.kill(number)


def _yard(root: Path, options: Options) -> Yard:
    return Yard(root, options.shared(), Userland(options.userland).mounts())


class Cluster:
    """Created by start() or attach(); ended by close(), also as a context manager."""

    def __init__(self, root: Path, options: Options, yard: Union[Yard, PlainYard]):
        self.root, self.options, self.yard = root, options, yard
        count = options.pods * options.units * options.hosts_per_unit
        self.nodes = [f"n{index:0{max(3, len(str(count)))}d}" for index in range(1, count + 1)]
        self.units = [self.nodes[start:start + options.hosts_per_unit]
                      for start in range(0, count, options.hosts_per_unit)]
        self.userland = Userland(options.userland)
        self.daemons: dict[tuple[str, str], Daemon] = {}
        self.cut_cables: set[str] = set()
        self.own_files: set[str] = set()  # those in its root directory when it was started
        self.slurm: Slurm
        self.fabric = Fabric(root)
        self.agents = Agents(self) if options.build else None
        self.accounting = Accounting(self) if options.accounting else None
        self.lsf = Lsf(self) if options.lsf else None

    # --- life ---

    @staticmethod
    def start(options: Options, say: Callable[[str], None] = lambda text: None) -> "Cluster":
        """Starts everything and returns when all nodes are idle; reports how long each part took."""
        root = Path(os.environ.get("RAIL_CLUSTER_ROOT") or tempfile.mkdtemp(prefix="rail-", dir="/var/tmp"))
        root.mkdir(parents=True, exist_ok=True)
        root.chmod(0o755)
        (root / "log").mkdir(exist_ok=True)
        (root / "etc").mkdir(exist_ok=True)
        reason = "asked for" if options.plain else permitted()
        if reason and options.userland:
            skip(f"another Debian's programs need hosts that are namespaces: {reason}")
        if reason and options.lsf:
            skip(f"LSF's double needs hosts that are namespaces: {reason}")
        if reason and options.backup:
            skip(f"a second controller needs a host of its own: {reason}")
        if reason:
            say(f"hosts are plain processes: {reason}")
        cluster = Cluster(root, options, PlainYard(root) if reason else _yard(root, options))
        try:
            manager = "LSF's double" if options.lsf else "Slurm"
            for part, step in (("hosts", cluster._start_hosts), (f"munge and {manager}", cluster._start_slurm),
                               ("fabric", cluster._start_fabric), ("agents", cluster._start_agents),
                               ("all nodes idle", cluster._wait_idle)):
                begin = time.monotonic()
                if step() is not False:
                    say(f"{part}: {time.monotonic() - begin:.1f} s")
            cluster._record()
            cluster.own_files = set(os.listdir(root))
        except BaseException:
            cluster.close(keep_files="RAIL_KEEP_LOGS" in os.environ)
            raise
        return cluster

    @staticmethod
    def attach(root: Path) -> "Cluster":
        """The running cluster with this root directory, as recorded by another process."""
        record = json.loads((root / RECORD).read_text())
        values = record["options"]
        for name in PATHS:
            values[name] = Path(values[name]) if values[name] else None
        options = Options(**values)
        yard = _yard(root, options) if record["namespaces"] else PlainYard(root)
        yard.addresses = record["addresses"]
        if isinstance(yard, Yard):
            yard.init = Pid(*record["yard"])
            yard.inits = {name: Pid(*pid) for name, pid in record["inits"].items()}
        else:
            yard.processes = {name: [Pid(*pid) for pid in pids] for name, pids in record["inits"].items()}
        cluster = Cluster(root, options, yard)
        cluster._configure_slurm(record["ports"])
        for host, label, pid in record["daemons"]:
            cluster.daemons[host, label] = Daemon(host, label, Pid(*pid), cluster.log(host, label))
        return cluster

    def _record(self) -> None:
        values = dataclasses.asdict(self.options)
        for name in PATHS:
            values[name] = str(values[name]) if values[name] else None
        yard = self.yard
        record = {"options": values, "namespaces": yard.namespaces, "addresses": yard.addresses,
                  "yard": yard.init if isinstance(yard, Yard) else None,
                  "inits": yard.inits if isinstance(yard, Yard) else yard.processes, "ports": self.slurm.ports,
                  "daemons": [(daemon.host, daemon.label, daemon.pid) for daemon in self.daemons.values()]}
        scratch = self.root / (RECORD + ".new")
        scratch.write_text(json.dumps(record))
        scratch.rename(self.root / RECORD)

    def close(self, keep_files: bool = False) -> None:
        """Ends every process of the cluster and removes its root directory."""
        self.yard.close()
        if not keep_files:
            shutil.rmtree(self.root, ignore_errors=True)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, kind, error: Optional[BaseException], trace) -> None:
        if error:
            error.add_note(self.last_words())
        self.close()

    # --- starting the parts ---

    def _start_hosts(self) -> None:
        numbers = {CONTROLLER: 1, **({BACKUP: 2} if self.options.backup else {})}
        if not self.options.cloud:
            numbers.update(zip(self.nodes, range(11, 11 + len(self.nodes))))
        self.yard.start({name: f"{NETWORK}.{number}" for name, number in numbers.items()}, self.options.tied)
        (self.root / "gpu").mkdir(exist_ok=True)
        for name in numbers:
            self.yard.boot(name)

    def _configure_slurm(self, ports: Optional[list[int]]) -> None:
        options = self.options
        pods = [self.units[start:start + options.units] for start in range(0, len(self.units), options.units)]
        settings = {**options.settings, **(self.accounting.settings() if self.accounting else {})}
        self.slurm = Slurm(self.root, pods, self.yard.namespaces, self.userland,
                           plugin_dir=self.root / "plugins" if options.build else None, settings=settings,
                           slurmd_timeout=options.slurmd_timeout, cred_expire=options.cred_expire, ports=ports,
                           cloud=options.cloud, backup=BACKUP if options.backup else None, user=options.slurm_user,
                           topology_yaml=options.topology_yaml)

    def _start_slurm(self) -> None:
        ports = None if self.yard.namespaces else [free_port() for _ in range(len(self.nodes) + 1)]
        self._configure_slurm(ports)
        if self.agents:
            self.agents.configure()
        self.slurm.write()
        self.spawn(CONTROLLER, "munged", self.slurm.munged())
        socket = self.root / "munge" / "munge.sock"
        wait_for(socket.exists, 10, "munged to listen", [self.root / "log" / "munged.log", self.log(CONTROLLER, "munged")])
        if self.lsf:
            self.lsf.start()
            return
        if self.accounting:
            self.accounting.start(self.options.slurm_user)
        self.start_slurmctld()
        if self.options.backup:
            self.start_backup()
        for node in [] if self.options.cloud else self.nodes:
            self.start_slurmd(node)

    def start_slurmd(self, node: str) -> None:
        if self.lsf:
            self.lsf.set_host(node, "on")
            return
        self.spawn(node, "slurmd", self.slurm.slurmd(node), own_log=True)

    def start_slurmctld(self) -> None:
        daemon = self.spawn(CONTROLLER, "slurmctld", self.slurm.slurmctld(), own_log=True)
        wait_for(lambda: "UP" in self.run("scontrol", "ping", timeout=5).stdout, 60, "slurmctld to answer",
                 [daemon.log.with_suffix(".err"), daemon.log], needs=daemon.pid)

    def start_backup(self) -> None:
        """The second controller, which waits until the first is gone."""
        log = self.log(BACKUP, "slurmctld")
        self.spawn(BACKUP, "slurmctld", [*self.slurm.slurmctld(), "-L", str(log)], own_log=True)
        wait_for(lambda: self.run("scontrol", "ping", timeout=5).stdout.count("UP") == 2, 30, "the second slurmctld to answer",
                 [log.with_suffix(".err"), log])

    def _start_fabric(self) -> Optional[bool]:
        if not self.agents or not self.agents.wanted or not self.fabric.net.exists():
            return False
        self.fabric.start(self)
        return None

    def _start_agents(self) -> Optional[bool]:
        return self.agents.start() if self.agents else False

    def _wait_idle(self) -> None:
        if self.lsf:
            self.lsf.wait_idle()
            return
        def idle() -> bool:
            return all(state.rstrip("~") == "idle" for state in self.node_states().values())
        wait_for(idle, 60, "all nodes to be idle", [self.log(CONTROLLER, "slurmctld"), self.log(self.nodes[0], "slurmd")],
                 every=0.5 if self.options.cloud else 0.1)

    def last_words(self) -> str:
        """The ends of the logs of the deciding daemons: resource manager and restartd. For analysis of failed tests."""
        return "\n".join(tail(self.log(*daemon), 5) for daemon in self.daemons if daemon[1] in DECIDING)

    # --- running programs ---

    def log(self, host: str, label: str) -> Path:
        return self.root / "log" / f"{host}.{label}.log"

    def environment(self, host: str) -> dict[str, str]:
        """A clean environment for programs on a host."""
        build = self.options.build
        path = [str(build), str(build / "tests" / "apps")] if build else []
        values = {"PATH": ":".join([*path, PATH]), "HOME": "/root", "LANG": "C.UTF-8",
                  "SLURM_CONF": str(self.slurm.conf(host)), **MPI}
        if self.lsf:
            values["PATH"] = f"{self.lsf.bindir}:{values['PATH']}"
        if self.agents:
            values["RAILYARD_CONF"] = str(self.agents.conf)
        return values

    def spawn(self, host: str, label: str, command: list[str], env: Optional[dict[str, str]] = None,
              stdin: int = subprocess.DEVNULL, own_log: bool = False) -> Daemon:
        """Starts a daemon on a host, identified by (host, label) from now on.

        Its output goes to its log; with own_log it writes the log itself, and its output goes to a .err file next to it.
        """
        log = self.log(host, label)
        # libumad2sim creates sys-PID in the current directory, and process numbers are those of the host's namespace: with one
        # directory for all clusters, two opensm with the same number would remove each other's.
        prefix = self.yard.prefix(host, str(self.root / "run"))
        # env(1) is between nsenter and the daemon, so that a preloaded library affects only the daemon.
        extra = ["env", *(f"{key}={value}" for key, value in env.items())] if env else []
        with open(log.with_suffix(".err") if own_log else log, "ab") as out:
            process = subprocess.Popen([*prefix, *extra, *command], env=self.environment(host), cwd="/", stdin=stdin,
                                       stdout=out, stderr=out, start_new_session=True,
                                       preexec_fn=None if self.yard.namespaces else become_subreaper)
        daemon = Daemon(host, label, self._program(process), log)
        if isinstance(self.yard, PlainYard):
            self.yard.record(host, daemon.pid)
        self.daemons[host, label] = daemon
        return daemon

    def _program(self, process: subprocess.Popen) -> Pid:
        """nsenter forks to enter a process namespace: its child is the program."""
        if not self.yard.namespaces:
            return Pid.of(process.pid)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        return Pid.of(int(wait_for(lambda: children.read_text().split(), 5, f"{process.args} to start", every=0.002)[0]))

    def alive(self, host: str, label: str) -> bool:
        daemon = self.daemons.get((host, label))
        return daemon is not None and daemon.alive()

    def run(self, *command: str, host: str = CONTROLLER, timeout: float = 30, cwd: Optional[str] = None,
            env: Optional[dict[str, str]] = None, stdin: str = "", check: bool = False) -> subprocess.CompletedProcess:
        """Runs a command on a host and returns its output as text. On a slow machine `timeout` is longer (speed.py)."""
        timeout *= slowness()
        # A command that hangs is killed in its host, not only its nsenter outside.
        words = [*self.yard.prefix(host, cwd or str(self.root)), "timeout", "-k", "1", str(timeout), *command]
        environment = {**self.environment(host), **(env or {})}
        result = subprocess.run(words, env=environment, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, errors="replace", check=False)
        if result.returncode == 124:
            raise RuntimeError(f"{' '.join(command)}: no end within {timeout:g} s: {result.stdout}{result.stderr}")
        if check and result.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit {result.returncode}: {result.stdout}{result.stderr}".strip())
        return result

    def out(self, *command: str, **options) -> str:
        """The standard output of a command that must succeed."""
        return self.run(*command, check=True, **options).stdout.strip()

    # --- what Slurm says ---

    @property
    def manager(self) -> str:
        return "LSF" if self.lsf else "Slurm"

    def node_states(self) -> dict[str, str]:
        """Slurm's state of each node, such as idle, alloc, drained, down*; LSF's states use the same words."""
        if self.lsf:
            words = {"ok": "idle", "closed_Full": "allocated", "closed_Adm": "drained", "unreach": "down*", "unavail": "down*"}
            return {node: words.get(word, word) for node, word in self.lsf.hosts().items()}
        lines = self.out("sinfo", "-h", "-N", "-o", "%N %T").splitlines()
        states = dict(line.split() for line in lines)
        if set(states) != set(self.nodes):
            raise RuntimeError(f"sinfo names {sorted(states)}")
        return states

    def resume(self, node: str) -> None:
        """Returns a node that was set down to service. Its daemon's registration may do so first (ReturnToService=2), and Slurm
        refuses to resume a node in use."""
        refused = self.run("scontrol", "update", f"nodename={node}", "state=resume")
        if refused.returncode and self.node_states()[node].rstrip("*") not in ("idle", "mixed", "allocated"):
            raise RuntimeError(f"{node} cannot be resumed: {refused.stderr.strip()}: {self.node_states()[node]}")

    # --- faults ---

    def power_off(self, host: str) -> None:
        """Cuts a host's power: all of its processes die, its links to both networks go away."""
        if self.lsf:  # first: a job's end that it sees now is not a real end
            self.lsf.set_host(host, "off")
        self.yard.power_off(host)
        for key in [key for key in self.daemons if key[0] == host]:
            del self.daemons[key]
        if self.fabric.hcas:
            self.fabric.set_links(host, False)
        self._record()

    def hang(self, host: str) -> None:
        """The host's kernel hangs: its links stay up, nothing runs, until it is powered off."""
        self.yard.hang(host)

    def power_on(self, host: str) -> None:
        """Boots a host that is off and starts its daemons."""
        if self.fabric.hcas:
            self.fabric.set_links(host, True)
        self.yard.boot(host)
        self.start_slurmd(host)
        if self.agents:
            self.agents.start_node(host)
        self._record()

    def cable(self, host: str, up: bool) -> None:
        """Pulls or plugs the host's Ethernet cable and its InfiniBand cables."""
        self.yard.cable(host, up)
        if self.lsf:
            self.lsf.set_host(host, "on" if up else "cut")
        (self.cut_cables.discard if up else self.cut_cables.add)(host)
        if self.fabric.hcas:
            self.fabric.set_links(host, up)
        if self.agents:
            self.agents.set_links(host, up)

    def power_brake(self, host: str, gpu: int, on: bool) -> None:
        """Sets or clears the power brake of one GPU of a host."""
        self.agents.set_gpu(host, gpu, reasons=0x80 if on else 0)
