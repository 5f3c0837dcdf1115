"""Hosts as namespaces with their own names, addresses, process trees and power switches.

The yard is a process with its own network, mount and process namespaces; it holds the bridge. Each host is a child of the yard
with network, host name, process, mount and IPC namespaces. Nothing has a name outside: killing the yard's first process ends
every host and everything that runs in one, and the kernel then removes links, mounts and addresses. ROOT/hardware is a memory
file system of the yard: sysfs trees are ten thousand small files.

Powering off is SIGKILL to the host's init; cutting its cable sets the bridge's end of its link down.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Optional, Sequence

from .process import Pid, children, kill_tree, wait_for

NETWORK = "10.77.0"
# Reaps orphans in its process namespace; `sleep` alone would leave zombies.
INIT = "while :; do sleep 86400; done"
# A yard that is tied to its maker ends when the pipe on its standard input closes. Until then it reaps like the other: a host
# whose power is cut is not gone until the processes that entered it have been reaped.
TIED_INIT = "exec 3<&0; cat <&3 >/dev/null & wait $!"


class NotPermitted(Exception):
    """This machine does not permit namespaces; the text says which step failed."""


class Yard:
    """All hosts of one cluster. `init` and `inits` outlive the maker if the yard is not tied to it."""

    namespaces = True

    def __init__(self, root: Path, shared: Sequence[Path] = (), mounts: Sequence[str] = ()):
        """Every host sees the folders `shared`, even where its own /tmp or /run would hide them.

        `mounts` are commands that complete a host's file systems at the end of its boot.
        """
        self.root, self.mounts = root, mounts
        self.shared = [path for path in shared if path.is_relative_to("/tmp") or path.is_relative_to("/run")]
        self.init = Pid(0, -1)
        self.inits: dict[str, Pid] = {}
        self.addresses: dict[str, str] = {}
        self._lifeline: Optional[int] = None
        self._stopped: dict[str, set[Pid]] = {}  # processes that entered a hanging host

    # --- starting ---

    def start(self, addresses: dict[str, str], tied: bool) -> None:
        """Creates the yard with its bridge and name tables; hosts are booted one by one."""
        self.addresses = dict(addresses)
        etc = self.root / "etc"
        etc.mkdir(exist_ok=True)
        (self.root / "hardware").mkdir(exist_ok=True)
        lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in addresses.items())]
        (etc / "hosts").write_text("\n".join(lines) + "\n")
        (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nshadow: files\nhosts: files\n")
        stdin = subprocess.DEVNULL
        if tied:
            stdin, self._lifeline = os.pipe()
        script = (f"mount --bind {etc}/hosts /etc/hosts && mount --bind {etc}/nsswitch.conf /etc/nsswitch.conf && "
                  f"mount -t tmpfs -o mode=755 rail {self.root}/hardware && "
                  "ip link set lo up && ip link add br0 type bridge && ip link set br0 up && "
                  f"{self.prepared()}echo up >{self.root}/yard.up; {self.until_closed() if tied else INIT}")
        self.init = self._unshare([], "yard", ["--net", "--mount"], script, stdin)
        if tied:
            os.close(stdin)

    def prepared(self) -> str:
        """Commands, each followed by &&, that a kind of host needs in the yard before it is up."""
        return ""

    def until_closed(self) -> str:
        """The command of a yard that is tied to its maker: when it ends, everything ends."""
        return TIED_INIT

    def boot(self, name: str) -> None:
        """Powers a host on: new namespaces, a link to the bridge, its own /tmp, /run, /dev/shm and GPU device nodes."""
        home = self.root / "hosts" / name
        for folder in ("tmp", "run"):  # empty after each boot
            shutil.rmtree(home / folder, ignore_errors=True)
        for folder in ("tmp", "run", "gpu", "spool"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        os.chmod(home / "tmp", 0o1777)
        binds = [f"mkdir -p {home}{path} && mount --bind {path} {home}{path}" for path in self.shared]
        # Open MPI names its segments in /dev/shm by host and job, which may be the same in two clusters.
        binds += [f"mount --rbind {home}/tmp /tmp", f"mount --rbind {home}/run /run",
                  "{ [ ! -d /dev/shm ] || mount -t tmpfs -o mode=1777 shm /dev/shm; }"]
        (home / "boot_id").write_text(f"{uuid.uuid4()}\n")
        binds.append(f"mount --bind {home}/boot_id /proc/sys/kernel/random/boot_id")
        script = (f"hostname {name} && {' && '.join(binds)} && "
                  f"mount --bind {home}/gpu {self.root}/gpu && ip link set lo up && "
                  f"{''.join(f'{command} && ' for command in self.mounts)}"
                  f"echo up >{self.root}/{name}.up; {INIT}")
        enter = ["nsenter", "-t", str(self.init.pid), "-n", "-m", "-p", "--"]
        init = self._unshare(enter, name, ["--net", "--uts", "--mount", "--ipc"], script, subprocess.DEVNULL)
        self.inits[name] = init
        self._connect(name)

    def _connect(self, name: str) -> None:
        """Creates a link from the host to the bridge, and the host's address."""
        inner = self._inner(self.inits[name])
        self._yard("ip", "link", "add", f"v{name}", "type", "veth", "peer", "name", "eth0", "netns", inner)
        self._yard("ip", "link", "set", f"v{name}", "master", "br0", "up")
        for command in (f"addr add {self.addresses[name]}/24 dev eth0", "link set eth0 up"):
            subprocess.run([*self.prefix(name), "ip", *command.split()], check=True)

    def _unshare(self, enter: list[str], name: str, kinds: list[str], script: str, stdin) -> Pid:
        """Starts the init of a set of namespaces; returns its process as seen from outside."""
        up, log = self.root / f"{name}.up", self.root / "log" / f"{name}.init.log"
        up.unlink(missing_ok=True)
        command = [*enter, "unshare", *kinds, "--pid", "--fork", "--mount-proc", "sh", "-c", script]
        with open(log, "ab") as out:
            process = subprocess.Popen(command, stdin=stdin, stdout=out, stderr=out, start_new_session=True)

        def ready() -> bool:
            if process.poll() is not None:
                raise NotPermitted(f"namespaces are not permitted here: {log.read_text().strip()}")
            return up.exists()
        try:
            wait_for(ready, 10, f"host {name} to boot", [log], every=0.01)
        except Exception as error:
            if process.poll() is not None:
                raise NotPermitted(f"namespaces are not permitted here: {log.read_text().strip()}") from error
            kill_tree(Pid.of(process.pid))
            raise
        up.unlink()
        pid = process.pid
        for _ in range(2 if enter else 1):  # nsenter → unshare → init
            pid = children(pid)[0]
        return Pid.of(pid)

    def _inner(self, init: Pid) -> str:
        """The pid of a host's init in the yard's own process namespace."""
        status = Path(f"/proc/{init.pid}/status").read_text()
        pids = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()
        return pids[-2]

    def _yard(self, *command: str) -> None:
        subprocess.run([*self.yard_prefix(), *command], check=True)

    # --- using ---

    def prefix(self, name: str, folder: Optional[str] = None) -> list[str]:
        """The command prefix to run something in a host."""
        enter = ["nsenter", "-t", str(self.inits[name].pid), "-n", "-u", "-p", "-m", "-i"]
        return [*enter, f"--wd={folder}", "--"] if folder else [*enter, "--"]

    def inner(self, name: str) -> str:
        """A host's init as seen by a process of the yard outside of its hosts."""
        return self._inner(self.inits[name])

    def yard_prefix(self) -> list[str]:
        """The command prefix to run something in the yard, next to all hosts; it ends with the yard."""
        return ["nsenter", "-t", str(self.init.pid), "-n", "-m", "-p", "--"]

    def outside(self, path: Path) -> Path:
        """The path in this process for one that only the yard sees, such as its memory file system."""
        return Path(f"/proc/{self.init.pid}/root{path}")

    def is_on(self, name: str) -> bool:
        return name in self.inits and self.inits[name].alive()

    def power_off(self, name: str) -> None:
        """Kills every process of the host at once and removes its link, as if its power had been cut: TCP peers get no notice
        that a connection is closed. The link is removed first, separately: open connections keep the namespace, and all that
        is in it, for minutes."""
        self._yard("ip", "link", "del", f"v{name}")
        init = self.inits.pop(name)
        init.kill(signal.SIGKILL)
        for entered in self._stopped.pop(name, ()):
            entered.kill(signal.SIGCONT)
        wait_for(lambda: not init.alive(), 10, f"host {name} to be off", every=0.01)

    def hang(self, name: str) -> None:
        """Stops every process of the host; its kernel answers pings and accepts connections. Only a power-off ends that."""
        mine = os.readlink(f"/proc/{self.inits[name].pid}/ns/pid")
        for path in Path("/proc").glob("[0-9]*/ns/pid"):
            try:
                if os.readlink(path) == mine:
                    process = Pid.of(int(path.parts[2]))
                    # nsenter stops itself when its child is stopped, and a stopped nsenter never reaps its child.
                    if parent := process.parent():
                        self._stopped.setdefault(name, set()).add(parent)
                    process.kill(signal.SIGSTOP)
            except OSError:
                pass  # it has ended

    def cable(self, name: str, up: bool) -> None:
        self._yard("ip", "link", "set", f"v{name}", "up" if up else "down")

    def close(self) -> None:
        self.init.kill(signal.SIGKILL)
        for entered in set().union(*self._stopped.values()):
            entered.kill(signal.SIGCONT)
        wait_for(lambda: not self.init.alive(), 10, "the yard to end", every=0.01)
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None


def permitted() -> Optional[str]:
    """None if hosts can be namespaces; otherwise the reason."""
    if os.geteuid() != 0:
        return "not root"
    for tool in ("unshare", "nsenter", "ip"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    with tempfile.TemporaryDirectory(prefix="rail-probe-", dir="/var/tmp") as folder:
        root = Path(folder)
        (root / "log").mkdir()
        (root / "gpu").mkdir()
        yard = Yard(root)
        try:
            yard.start({"probe": f"{NETWORK}.1"}, tied=True)
            yard.boot("probe")
        except (NotPermitted, subprocess.CalledProcessError) as error:
            return str(error)
        finally:
            if yard.init.pid:
                yard.close()
    return None


if __name__ == "__main__":
    print(permitted() or "hosts can be namespaces", file=sys.stderr)
