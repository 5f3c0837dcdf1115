"""Children with a deadline: one that hangs is reported with all of its running descendants, and killed, so that a test run always
has a result.
"""

import os
import subprocess
from pathlib import Path
from typing import Optional

from .process import Pid, children, kill_tree
from .speed import slowness

OVERDUE = 124  # the exit status of what was killed here, as with timeout(1)


def _word(path: Path) -> str:
    try:
        return path.read_text(errors="replace").replace("\0", " ").strip()
    except OSError:
        return ""


def _thread(folder: Path) -> str:
    """Where in the kernel a thread is: its stack, or without permission to see it the symbol in wchan."""
    state = _word(folder / "stat").rpartition(")")[2].split()[:1]
    frames = [line.split()[-1].partition("+")[0] for line in _word(folder / "stack").splitlines()[:4]]
    return f"{''.join(state)} {' < '.join(frames) or _word(folder / 'wchan') or '?'}"


def autopsy(pid: int, depth: int = 0) -> str:
    """What runs in a process and its descendants: command lines and where threads are."""
    folder = Path(f"/proc/{pid}")
    words = (_word(folder / "cmdline") or _word(folder / "comm"))[:100]
    threads = sorted({_thread(task) for task in (folder / "task").glob("*")})
    lines = [f"{'  ' * depth}{pid} {words} [{'; '.join(threads)}]"]
    return "\n".join([*lines, *(autopsy(child, depth + 1) for child in children(pid))])


def end(root: Pid, what: str, seconds: float) -> str:
    """Kills an overdue process with its descendants; returns a text on what ran there."""
    text = f"{what} has not ended within {seconds:g} s. What still ran:\n{autopsy(root.pid)}"
    kill_tree(root)
    return text


def call(command: list, seconds: Optional[float], **options) -> int:
    """Runs a child to its end and returns its exit status; if we are ended, the child is terminated and waited for.

    On a slow machine the seconds are longer (speed.py).
    """
    seconds = seconds and seconds * slowness()
    child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, **options)
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        what = " ".join(os.path.basename(str(word)) for word in command if not str(word).startswith("-"))
        print(end(Pid.of(child.pid), what, seconds), flush=True)
        child.wait()
        return OVERDUE
    except BaseException:
        child.terminate()
        child.wait()
        raise
