"""Hosts without namespaces: plain processes on loopback, if this machine permits nothing better.

Slurm distinguishes such hosts by `slurmd -N NAME` and a port for each. Power off is SIGKILL to the recorded processes of the host
and their descendants; there is no cable to cut, and /tmp is shared.
"""

import socket
from pathlib import Path
from typing import Optional

from .process import Pid, kill_tree, wait_for


class PlainYard:
    namespaces = False

    def __init__(self, root: Path):
        self.root = root
        self.addresses: dict[str, str] = {}
        self.processes: dict[str, list[Pid]] = {}

    def start(self, addresses: dict[str, str], tied: bool) -> None:
        del tied  # nothing here ends automatically: the maker closes the yard
        self.addresses = {name: "127.0.0.1" for name in addresses}
        (self.root / "hardware").mkdir(exist_ok=True)

    def boot(self, name: str) -> None:
        for folder in ("tmp", "run", "gpu", "spool"):
            (self.root / "hosts" / name / folder).mkdir(parents=True, exist_ok=True)
        self.processes[name] = []

    def prefix(self, name: str, folder: Optional[str] = None) -> list[str]:
        del name
        return ["env", f"--chdir={folder}", "--"] if folder else []

    def record(self, name: str, process: Pid) -> None:
        self.processes[name].append(process)

    @staticmethod
    def outside(path: Path) -> Path:
        return path

    def is_on(self, name: str) -> bool:
        return name in self.processes

    def power_off(self, name: str) -> None:
        processes = self.processes.pop(name)
        for process in processes:
            kill_tree(process)
        wait_for(lambda: not any(process.alive() for process in processes), 10, f"host {name} to be off")

    def cable(self, name: str, up: bool) -> None:
        raise NotImplementedError(f"{name} has no cable of its own: hosts are plain processes here (wanted up={up})")

    def close(self) -> None:
        for name in list(self.processes):
            self.power_off(name)


def free_port() -> int:
    """A TCP port on which no one listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
