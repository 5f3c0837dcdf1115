"""Processes with recorded identity, and waiting with a deadline.

A process is identified by its pid and its start time (clock ticks since boot), so that a recorded pid that has been reused for
another process is never signalled.
"""

import ctypes
import os
import signal
import time
from pathlib import Path
from typing import Callable, NamedTuple, Optional, Sequence, TypeVar

from .speed import slowness

Found = TypeVar("Found")
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Timeout(Exception):
    """A condition did not become true before its deadline; the text names it, and ends with log tails."""


def _stat(pid: int) -> Optional[list[str]]:
    """The fields of /proc/PID/stat after the command name: state, parent, …; None when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None


class Pid(NamedTuple):
    """One process, distinguished from a later one with the same pid."""

    pid: int
    start: int

    @staticmethod
    def of(pid: int) -> "Pid":
        fields = _stat(pid)
        return Pid(pid, int(fields[19]) if fields else -1)

    def alive(self) -> bool:
        fields = _stat(self.pid)
        return fields is not None and int(fields[19]) == self.start and fields[0] != "Z"

    def parent(self) -> Optional["Pid"]:
        fields = _stat(self.pid) if self.alive() else None
        return Pid.of(int(fields[1])) if fields else None

    def kill(self, number: int = signal.SIGKILL) -> None:
        if self.alive():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass


def children(pid: int) -> list[int]:
    """The children of all its threads."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:
            pass  # the thread has ended
    return found


def descendants(pid: int) -> list[int]:
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def kill_tree(root: Pid) -> None:
    """SIGKILL to a process and all its descendants: stopped first, so that none forks in the meantime."""
    if not root.alive():
        return
    root.kill(signal.SIGSTOP)
    victims = [Pid.of(pid) for pid in descendants(root.pid)]
    for victim in victims:
        victim.kill(signal.SIGSTOP)
    for victim in [*(Pid.of(pid) for pid in descendants(root.pid)), root]:
        victim.kill(signal.SIGKILL)


def become_subreaper() -> None:
    """Run between fork and exec: orphans below this process become its children, not init's."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Run between fork and exec: SIGTERM when the thread that forked us ends, for any reason."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def leave_on_sigterm() -> None:
    """SIGTERM raises SystemExit, so that started processes are cleaned up; a second one does not interrupt that."""
    def leave(*_) -> None:
        signal.signal(signal.SIGTERM, lambda *_: None)  # not SIG_IGN, which children would inherit
        raise SystemExit(143)
    signal.signal(signal.SIGTERM, leave)


def tail(path: Path, lines: int = 15) -> str:
    try:
        text = path.read_text(errors="replace").splitlines()
    except OSError as error:
        return f"--- {path}: {error.strerror}"
    return "\n".join([f"--- the end of {path}:", *text[-lines:]])


def wait_for(condition: Callable[[], Found], seconds: float, what: str,
             logs: Sequence[Path] = (), every: float = 0.1, needs: Optional[Pid] = None) -> Found:
    """Polls until condition() is true and returns its value; Timeout names the condition `what`.

    An exception of the condition counts as "not yet", and its text is reported if it persists at the end. `needs` is a process
    that the condition depends on: if it ends, so does the wait. On a slow machine the seconds are longer (speed.py).
    """
    seconds *= slowness()
    deadline = time.monotonic() + seconds
    while True:
        reason = ""
        try:
            found = condition()
            if found:
                return found
        except Timeout:
            raise
        except Exception as error:  # noqa: BLE001: whatever a half-started daemon causes
            reason = f"; last seen: {error}"
        died = needs is not None and not needs.alive()
        if died or time.monotonic() >= deadline:
            tails = "".join("\n" + tail(Path(log)) for log in logs)
            when = f"process {needs.pid} ended" if needs and died else f"not within {seconds:g} s"
            raise Timeout(f"{when}: {what}{reason}{tails}")
        time.sleep(every)
