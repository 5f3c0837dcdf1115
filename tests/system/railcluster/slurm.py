"""Slurm and munge of a cluster: their files, and reading what the controller says.

One configuration for all hosts where they are namespaces. Plain processes share one loopback and one
/tmp, so each gets a folder with the same files but its own port, temporary and spool folders.
"""

import os
import stat
from pathlib import Path
from typing import Optional

GPUS = 8
NVIDIA_MAJOR = 195

SLURM_CONF = """\
ClusterName=railyard
SlurmctldHost={controller}
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge/munge.sock{auth}
CredType=cred/munge
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/hosts/%n/spool
SlurmctldPidFile={root}/run/slurmctld.pid
SlurmdPidFile={root}/run/slurmd.%n.pid
SlurmctldLogFile={root}/log/ctl.slurmctld.log
SlurmdLogFile={root}/log/%n.slurmd.log
SlurmctldDebug=verbose
SlurmdDebug=info
DebugFlags=NO_CONF_HASH
PluginDir={plugins}
PlugStackConfig={folder}/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=pmix
SwitchType=switch/none
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout={slurmd_timeout}
InactiveLimit=0
MinJobAge=3600
KillWait=5
MessageTimeout=30
TCPTimeout=2
TreeWidth=65533
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=5,sched_min_interval=100000,defer_batch,batch_sched_delay=1
SelectType={select}
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
PriorityType=priority/basic
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobRequeue=1
{job_submit}
GresTypes=gpu
SlurmdParameters=config_overrides
{nodes}
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
"""
NODE = "CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=1000 Gres=gpu:8 State=UNKNOWN"


class Slurm:
    """The configuration of one cluster's Slurm and munge under its root directory."""

    def __init__(self, root: Path, nodes: list[str], namespaces: bool, units: list[list[str]], *,
                 plugin_dir: Optional[Path] = None, slurmd_timeout: int = 300, cred_expire: Optional[int] = None,
                 ports: Optional[list[int]] = None):
        """plugin_dir holds Railyard's plugins; None is a stock cluster. ports: the controller's, then each node's."""
        self.root, self.nodes, self.namespaces, self.units = root, nodes, namespaces, units
        self.plugin_dir, self.slurmd_timeout, self.cred_expire = plugin_dir, slurmd_timeout, cred_expire
        self.ports = ports or [6817] + [6818] * len(nodes)

    def conf(self, node: Optional[str] = None) -> Path:
        """The slurm.conf for commands and daemons on a host."""
        own = node in self.nodes and not self.namespaces
        return (self.root / "hosts" / str(node) / "etc" if own else self.root / "etc") / "slurm.conf"

    def write(self) -> None:
        for folder in ("state", "run", "munge", "gpu", "log"):
            (self.root / folder).mkdir(exist_ok=True)
        for node in self.nodes:
            self._make_gpus(self.root / "hosts" / node / "gpu" if self.namespaces else self.root / "gpu")
        self._write_folder(self.root / "etc", None)
        for node in self.nodes:
            if not self.namespaces:
                self._write_folder(self.conf(node).parent, node)
        key = self.root / "munge" / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)

    def _write_folder(self, folder: Path, node: Optional[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        plugins = _stock_plugins() if self.plugin_dir is None else f"{self.plugin_dir}:{_stock_plugins()}"
        have = self._plugins()
        values = {
            "controller": "ctl" if self.namespaces else f"{os.uname().nodename}(127.0.0.1)",
            "port": self.ports[0], "root": self.root, "folder": folder, "plugins": plugins,
            "auth": f",cred_expire={self.cred_expire}" if self.cred_expire else "",
            "slurmd_timeout": self.slurmd_timeout,
            "select": "select/rail" if "select_rail.so" in have else "select/cons_tres",
            "job_submit": "JobSubmitPlugins=rail" if "job_submit_rail.so" in have else "",
            "nodes": "\n".join(self._node_line(index, name) for index, name in enumerate(self.nodes)),
        }
        (folder / "slurm.conf").write_text(SLURM_CONF.format(**values))
        names = ",".join(self.nodes)
        count = f"File={self.root}/gpu/nvidia[0-{GPUS - 1}]" if self._gpu_files() else f"Count={GPUS} Flags=CountOnly"
        (folder / "gres.conf").write_text(f"NodeName={names} Name=gpu {count}\n")
        (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        # The units as the stock tree plugin knows them: one switch a unit.
        lines = [f"SwitchName=unit{index} Nodes={','.join(unit)}" for index, unit in enumerate(self.units)]
        lines.append("SwitchName=spine Switches=" + ",".join(f"unit{index}" for index in range(len(self.units))))
        (folder / "topology.conf").write_text("\n".join(lines) + "\n")
        socket = "" if self.namespaces or node is None else f" socket={self.root}/hosts/{node}/run/railyard/job.sock"
        spank = f"optional {self.plugin_dir}/spank_rail.so{socket}\n" if "spank_rail.so" in have else ""
        (folder / "plugstack.conf").write_text(spank)
        if node is not None:  # one /tmp for all: PMIx's session folders must not meet
            (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={self.root}/hosts/{node}/tmp\n")

    def _node_line(self, index: int, name: str) -> str:
        if self.namespaces:
            return f"NodeName={name} {NODE}"
        host = os.uname().nodename
        return f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={self.ports[index + 1]} {NODE}"

    def _plugins(self) -> set[str]:
        return {path.name for path in self.plugin_dir.glob("*.so")} if self.plugin_dir else set()

    def _gpu_files(self) -> bool:
        folder = self.root / "hosts" / self.nodes[0] / "gpu" if self.namespaces else self.root / "gpu"
        return (folder / "nvidia0").exists()

    @staticmethod
    def _make_gpus(folder: Path) -> None:
        """GRES files must be device nodes; where mknod is not permitted the GPUs are counted instead."""
        folder.mkdir(parents=True, exist_ok=True)
        for index in range(GPUS):
            path = folder / f"nvidia{index}"
            try:
                if not path.exists():
                    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(NVIDIA_MAJOR, index))
            except PermissionError:
                return

    def munged(self) -> list[str]:
        folder = self.root / "munge"
        # --force: the root directory may belong to another user than root, which munged else refuses.
        return ["munged", "--foreground", "--force", f"--key-file={folder}/munge.key",
                f"--socket={folder}/munge.sock", f"--pid-file={folder}/munged.pid",
                f"--log-file={self.root}/log/munged.log", f"--seed-file={folder}/munged.seed",
                "--num-threads=4"]

    @staticmethod
    def slurmctld() -> list[str]:
        # Under the name slurmctld-wlm all GRES silently vanish: the command must be found by this name.
        return ["slurmctld", "-D", "-i"]

    def slurmd(self, node: str) -> list[str]:
        return ["slurmd", "-D"] if self.namespaces else ["slurmd", "-D", "-N", node]


def _stock_plugins() -> str:
    for folder in sorted(Path("/usr/lib").glob("*/slurm-wlm")):
        if (folder / "select_cons_tres.so").exists():
            return str(folder)
    raise FileNotFoundError("Slurm's plugins stand in no /usr/lib/*/slurm-wlm: install slurm-wlm-basic-plugins")
