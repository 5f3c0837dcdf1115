"""Slurm and munge of a cluster: their files, and reading the controller's output.

One configuration for all hosts if they are namespaces. Plain processes share one loopback and one /tmp, so each gets a folder
with the same files but its own port, temporary and spool folders.
"""

import os
import shutil
import stat
from pathlib import Path
from typing import Optional

from .userland import Userland

GPUS = 8
NVIDIA_MAJOR = 195

SLURM_CONF = """\
ClusterName=railyard
SlurmctldHost={controller}{backup}
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge/munge.sock{auth}
CredType=cred/munge
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/hosts/%n/spool
SlurmctldPidFile={run}/slurmctld.pid
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
MpiDefault={mpi}
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
TopologyPlugin={topology}
PriorityType=priority/basic
JobRequeue=1
{job_submit}
GresTypes=gpu
SlurmdParameters=config_overrides
{extra}
{nodes}
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
"""
NODE = "CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=1000 Gres=gpu:8"
# Nodes without a slurmd: real scheduling, and jobs with nodes stay CONFIGURING.
CLOUD = """\
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=86400
ResumeTimeout=36000
SuspendTimeout=5
SuspendRate=0
ResumeRate=0
MaxJobCount=200000
PrivateData=cloud
"""


class Slurm:
    """The configuration of one cluster's Slurm and munge under its root directory."""

    def __init__(self, root: Path, pods: list[list[list[str]]], namespaces: bool, userland: Userland, *,
                 plugin_dir: Optional[Path] = None, slurmd_timeout: int = 300, cred_expire: Optional[int] = None,
                 ports: Optional[list[int]] = None, cloud: bool = False, settings: Optional[dict[str, str]] = None,
                 backup: Optional[str] = None, user: str = "root", topology_yaml: str = ""):
        """pods holds the nodes by pod and unit. plugin_dir holds Railyard's plugins; None is a stock cluster.

        ports: the controller's, then each node's. cloud: no node has a slurmd. settings replace or add keys of
        slurm.conf. backup: the host of a second controller. user: SlurmUser. topology_yaml: that file's text, of 25.05 and later.
        """
        self.root, self.namespaces, self.pods, self.userland = root, namespaces, pods, userland
        self.nodes = [node for pod in pods for unit in pod for node in unit]
        self.plugin_dir, self.slurmd_timeout, self.cred_expire = plugin_dir, slurmd_timeout, cred_expire
        self.cloud, self.settings, self.backup, self.user = cloud, settings or {}, backup, user
        self.topology_yaml = topology_yaml
        self.ports = ports or [6817] + [6818] * len(self.nodes)

    def conf(self, node: Optional[str] = None) -> Path:
        """The slurm.conf for commands and daemons on a host."""
        own = node in self.nodes and not self.namespaces
        return (self.root / "hosts" / str(node) / "etc" if own else self.root / "etc") / "slurm.conf"

    def write(self) -> None:
        for folder in ("state", "run", "munge", "gpu", "log"):
            (self.root / folder).mkdir(exist_ok=True)
        for folder in ("state", "run", "log") if self.user != "root" else ():
            shutil.chown(self.root / folder, self.user)
        if not self.cloud:
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
        stock = self.userland.plugins()
        plugins = stock if self.plugin_dir is None else f"{self.plugin_dir}:{stock}"
        have = self._plugins()
        values = {
            "controller": "ctl" if self.namespaces else f"{os.uname().nodename}(127.0.0.1)",
            "backup": f"\nSlurmctldHost={self.backup}" if self.backup else "",
            "user": self.user,
            "run": "/run" if self.backup else self.root / "run",  # each controller's host has its own /run
            "port": self.ports[0], "root": self.root, "folder": folder, "plugins": plugins,
            "auth": f",cred_expire={self.cred_expire}" if self.cred_expire else "",
            "slurmd_timeout": self.slurmd_timeout,
            "select": "select/rail" if "select_rail.so" in have else "select/cons_tres",
            "topology": "topology/rail" if "topology_rail.so" in have else "topology/tree",
            "mpi": "none" if self.userland.root else "pmix",
            "extra": CLOUD if self.cloud else "",
            "job_submit": "JobSubmitPlugins=rail" if "job_submit_rail.so" in have else "",
            "nodes": "\n".join(self._node_lines()),
        }
        (folder / "slurm.conf").write_text(self._with_settings(SLURM_CONF.format(**values)))
        names = "" if self.cloud else f"NodeName={_fold(self.nodes)} "
        count = f"File={self.root}/gpu/nvidia[0-{GPUS - 1}]" if self._gpu_files() else f"Count={GPUS} Flags=CountOnly"
        (folder / "gres.conf").write_text(f"{names}Name=gpu {count}\n")
        # Debian 13's Slurm has no separate cgroups for these hosts.
        (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n" if self.userland.root else "CgroupAutomount=no\n")
        (folder / "topology.conf").write_text("\n".join(self._switches()) + "\n")
        if self.topology_yaml:
            (folder / "topology.yaml").write_text(self.topology_yaml)
        run = self.root / "hosts" / str(node) / "run" / "railyard"
        places = "" if self.namespaces or node is None else f" socket={run}/job.sock run={run}"
        lib = self.root / "lib"
        programs = f"ucx={lib}/librailucx.so railrun={lib}/railrun railcheck={lib}/railcheck railckpt={lib}/railckpt"
        spank = f"optional {self.plugin_dir}/spank_rail.so{places} {programs}\n" if "spank_rail.so" in have else ""
        (folder / "plugstack.conf").write_text(spank)
        if node is not None:  # a shared /tmp: PMIx's session folders must not collide
            (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={self.root}/hosts/{node}/tmp\n")

    def _with_settings(self, text: str) -> str:
        lines = [line for line in text.splitlines() if line.partition("=")[0] not in self.settings]
        at = next(index for index, line in enumerate(lines) if line.startswith("NodeName="))
        return "\n".join([*lines[:at], *(f"{key}={value}" for key, value in self.settings.items()), *lines[at:]]) + "\n"

    def _switches(self) -> list[str]:
        """The units and pods for the stock plugins: blocks, or a switch for each and one above all."""
        if self.settings.get("TopologyPlugin") == "topology/block":
            blocks = [f"BlockName=unit{index} Nodes={_fold(unit)}" for index, unit in enumerate(sum(self.pods, []))]
            return [*blocks, f"BlockSizes={len(self.pods[0][0])},{len(sum(self.pods[0], []))}"]
        lines, number, above = [], 0, []
        for index, pod in enumerate(self.pods):
            units = [f"unit{number + offset}" for offset in range(len(pod))]
            number += len(pod)
            lines += [f"SwitchName={name} Nodes={_fold(unit)}" for name, unit in zip(units, pod)]
            if len(self.pods) > 1:
                lines.append(f"SwitchName=pod{index} Switches={','.join(units)}")
            above += [f"pod{index}"] if len(self.pods) > 1 else units
        return [*lines, f"SwitchName=spine Switches={','.join(above)}"]

    def _node_lines(self) -> list[str]:
        state = "State=CLOUD" if self.cloud else "State=UNKNOWN"
        if self.cloud:  # nonexistent names: a look-up would delay slurmctld, a refused connection does not
            return [f"NodeName={_fold(self.nodes)} NodeAddr=127.0.0.1 {NODE} {state}"]
        if self.namespaces:
            return [f"NodeName={_fold(self.nodes)} {NODE} {state}"]
        host = os.uname().nodename
        return [f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} {NODE} {state}"
                for name, port in zip(self.nodes, self.ports[1:])]

    def _plugins(self) -> set[str]:
        return {path.name for path in self.plugin_dir.glob("*.so")} if self.plugin_dir else set()

    def _gpu_files(self) -> bool:
        if self.cloud:
            return False
        folder = self.root / "hosts" / self.nodes[0] / "gpu" if self.namespaces else self.root / "gpu"
        return (folder / "nvidia0").exists()

    @staticmethod
    def _make_gpus(folder: Path) -> None:
        """GRES files must be device nodes; if mknod is not permitted the GPUs are counted instead."""
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
        # --force: the root directory may belong to a user other than root, which munged otherwise refuses.
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


def _fold(nodes: list[str]) -> str:
    """The host list of consecutive nodes."""
    return f"n[{nodes[0][1:]}-{nodes[-1][1:]}]"
