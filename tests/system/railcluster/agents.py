"""Railyard's own part of a cluster: its configuration, plugins, daemons, and the nodes' fake hardware."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Optional

from .plain import free_port
from .process import wait_for
from .testing import made_for

SOURCE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests" / "doubles"))
import gen_sysfs  # noqa: E402
PLUGINS = ("spank_rail.so", "select_rail.so", "topology_rail.so", "job_submit_rail.so")
PROGRAMS = ("restartd", "railctl", "nodewatchd", "fabricwatchd", "tests/doubles/libnvidia-ml.so.1")
PORT = 8917
PAGE = SOURCE / "src/restart/web/page"

LINK_GBPS = 400
SOUND_GPUS = "count=8\n"

# Nodes here fail within minutes, not years: checkpoints come every few seconds.
SETTINGS = {
    "restartd.observe_only": "false",
    "restartd.max_drained_percent": "50",
    "node_loss.max_lost_percent": "100",
    "checkpoint.mtbf_node": '"10m"',
    "checkpoint.min_interval": '"1s"',
}


class Agents:
    """Files and daemons of Railyard in one cluster; everything that its build is configured for must be built."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.build: Path = cluster.options.build
        # Hosts of another Debian cannot run this one's builds.
        self.wanted = not cluster.options.userland and not cluster.options.cloud
        self.conf = cluster.root / "etc" / "railyard.conf"
        self.fabric = cluster.root / "etc" / "fabric.json"
        self._faulty: set[str] = set()  # hosts whose hardware was changed since restore()
        # Hosts with their own addresses can use all ports.
        self.port = PORT if cluster.yard.namespaces else free_port()

    @property
    def url(self) -> str:
        """The address of restartd."""
        return f"http://{self.cluster.yard.addresses['ctl']}:{self.port}"

    def configure(self) -> None:
        """Writes fabric and configuration files and puts the plugins where Slurm looks for them."""
        cluster, options = self.cluster, self.cluster.options
        plugins = cluster.root / "plugins"
        plugins.mkdir(exist_ok=True)
        folder = f"{options.plugins or 'second'}/.libs" if options.userland else ".libs"
        links = {name: self.build / folder / name for name in PLUGINS if made_for(self.build, f"{folder}/{name}")}
        if options.topology_yaml:
            shadows = self.build / (options.plugins or "second") / "shadow" / ".libs"
            links |= {name: shadows / name for name in ("topology_tree.so", "topology_block.so", "topology_flat.so")}
        programs = [self.build / name for name in (("railtopo", *PROGRAMS) if self.wanted else ("railtopo",))]
        if missing := [str(path) for path in (*links.values(), *programs) if not path.exists()]:
            raise RuntimeError(f"not built: {' '.join(missing)}: make cluster")
        for name, built in links.items():
            (plugins / name).symlink_to(built)
        if self.wanted:
            (cluster.root / "lib").mkdir(exist_ok=True)
            for name in (".libs/librailucx.so", "railrun", "railcheck", "railckpt"):
                (cluster.root / "lib" / Path(name).name).symlink_to(self.build / name)
        shape = f"pods={options.pods} units={options.units} hosts={options.hosts_per_unit} rails={options.rails} rate=4xHDR"
        net = ["--ibsim", cluster.fabric.net] if self.wanted else []
        subprocess.run([self.build / "railtopo", "synth", shape, "--out", self.fabric, *net], check=True,
                       stdout=subprocess.DEVNULL)
        values = {
            "placement.fabric": f'"{self.fabric}"',
            "restartd.listen": f'"{self.url.removeprefix("http://")}"',
            "restartd.url": f'"{self.url}"',
            # Another user is set in slurm.conf only.
            **({"restartd.user": '"root"'} if options.slurm_user == "root" else {}),
            "restartd.journal": f'"{cluster.root}/state/journal.db"',
            "munge.socket": f'"{cluster.root}/munge/munge.sock"',
            "web.files": f'"{PAGE}"',
            **(cluster.lsf.railyard() if cluster.lsf else {}),
            **SETTINGS, **options.railyard,
        }
        lines, table = [], ""
        for key, value in sorted(values.items()):
            prefix, _, name = key.partition(".")
            if prefix != table:
                lines.append(f"[{prefix}]")
                table = prefix
            lines.append(f"{name} = {value}")
        self.conf.write_text("\n".join(lines) + "\n")
        if self.wanted:
            self._make_hardware()
            self._make_systemd()

    def _make_hardware(self) -> None:
        """Each node's sysfs tree, with the GUIDs of the fabric file, kernel log and NVML state."""
        hosts = json.loads(self.fabric.read_text())["hosts"] if self.fabric.exists() else []
        guids = {host["name"]: [int(hca["guid"], 16) for hca in host["hcas"]] for host in hosts}
        for node in self.cluster.nodes:
            home = self.hardware(node)
            home.mkdir(exist_ok=True)
            for rail in range(self.cluster.options.rails):
                guid = guids[node][rail] if node in guids else None
                gen_sysfs.make_hca(str(home / "sys"), rail, node, LINK_GBPS, guid)
            (home / "kmsg").write_text("")
            (home / "nvml.state").write_text(SOUND_GPUS)

    def _make_systemd(self) -> None:
        """A systemctl that reports whether its host is being shut down."""
        folder = self.cluster.root / "systemd"
        folder.mkdir(exist_ok=True)
        script = folder / "systemctl"
        script.write_text("#!/bin/sh\n[ -e /run/stopping ] && echo stopping || echo running\n")
        script.chmod(0o755)

    def shut_down(self, node: str) -> None:
        """Ends the host's agent as systemd does when the host is rebooted."""
        (self.cluster.root / "hosts" / node / "run" / "stopping").touch()
        self.stop(node, "nodewatchd")

    def hardware(self, node: str) -> Path:
        """The folder of a node's hardware, as seen by this process."""
        return self.cluster.yard.outside(self.cluster.root / "hardware" / node)

    def start(self) -> Optional[bool]:
        if not self.wanted:
            return False
        self.start_restartd()
        if self.cluster.fabric.hcas:
            self.start_fabricwatchd()
        for node in self.cluster.nodes:
            self.start_node(node)
        return None

    def start_fabricwatchd(self) -> None:
        self._start("ctl", "fabricwatchd", [str(self.build / "fabricwatchd")],
                    {**self.cluster.fabric.environment(), **self.cluster.fabric.notices()})

    def start_restartd(self, env: Optional[dict[str, str]] = None) -> None:
        """Returns when restartd answers."""
        user = self.cluster.options.slurm_user
        own = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        daemon = self._start("ctl", "restartd", [*own, str(self.build / "restartd")], env or {})
        wait_for(lambda: self.cluster.run("railctl", "status", timeout=5).returncode == 0, 20, "restartd to answer",
                 [daemon.log], needs=daemon.pid)

    def start_node(self, node: str) -> None:
        if not self.wanted:
            return
        home = self.cluster.root / "hardware" / node
        double = self.build / "tests" / "doubles" / "libnvidia-ml.so.1"
        command = [str(self.build / "nodewatchd"), "--host", node, "--sysfs", f"{home}/sys", "--nvml", str(double),
                   "--kmsg", f"{home}/kmsg"]
        path = f"{self.cluster.root / 'systemd'}:{self.cluster.environment(node)['PATH']}"
        self._start(node, "nodewatchd", command, {"RAIL_NVML_STATE": f"{home}/nvml.state", "PATH": path})

    def _start(self, host: str, label: str, command: list[str], env: dict[str, str]):
        return self.cluster.spawn(host, label, [*command, "--config", str(self.conf)], env=env)

    def set_gpu(self, node: str, gpu: int, **values) -> None:
        """Changes what the node's NVML reports for one GPU, such as reasons=0x80; other values are kept."""
        self._faulty.add(node)
        path = self.hardware(node) / "nvml.state"
        state = dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)
        state.update({f"{gpu}.{key}": str(value) for key, value in values.items()})
        scratch = path.with_suffix(".new")
        scratch.write_text("".join(f"{key}={value}\n" for key, value in state.items()))
        scratch.rename(path)

    def set_links(self, node: str, up: bool) -> None:
        """Sets the state of the node's HCAs as the node sees it."""
        self._faulty.add(node)
        root = self.hardware(node) / "sys"
        for rail in range(self.cluster.options.rails):
            gen_sysfs.assign(str(root), f"mlx5_{rail}.link={'up' if up else 'down'}", LINK_GBPS)

    def restore(self) -> None:
        """Restores sound hardware, with every daemon running and no memory of faults."""
        if self.wanted:
            for node in self.cluster.nodes:
                (self.hardware(node) / "nvml.state").write_text(SOUND_GPUS)
        if not self.wanted:
            return
        self.stop("ctl", "restartd")
        self.forget()
        for node in self.cluster.nodes:
            if node in self._faulty:
                self.stop(node, "nodewatchd")  # a finding outlasts its cause for a while
            if not self.cluster.alive(node, "nodewatchd"):
                self.start_node(node)
        self._faulty.clear()
        self.start_restartd()

    def wait_heard(self) -> None:
        """Waits until restartd has heard all agents: a host that it has never heard cannot be lost."""
        heard = lambda: json.loads(self.cluster.out("railctl", "status", "--json"))["witnesses"]["agents"]  # noqa: E731
        wait_for(lambda: heard() == len(self.cluster.nodes), 30, "restartd to hear all agents",
                 [self.cluster.log("ctl", "restartd")])

    def forget(self) -> None:
        """Removes journal and lease, for a restartd without state."""
        state = self.cluster.root / "state"
        for folder in ("journal.db.lease", "kept"):
            shutil.rmtree(state / folder, ignore_errors=True)
        for path in state.glob("journal.db*"):
            path.unlink()

    def stop(self, host: str, label: str) -> None:
        """Ends a daemon the way systemd does; it may have ended before."""
        daemon = self.cluster.daemons.get((host, label))
        if daemon:
            daemon.kill(signal.SIGTERM)
            wait_for(lambda: not daemon.alive(), 15, f"{label} on {host} to stop", [daemon.log])
