"""Building Railyard the way quickstart and tests/run do: out of tree, with progress, never silent for long."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Optional

SOURCE = Path(__file__).resolve().parents[3]
EVERY = 8.0  # seconds between two lines of progress where there is no terminal


class Failed(Exception):
    """A step of the build failed; the text ends with the last of its output."""


def run_step(what: str, command: list, log: Path, cwd: Path, say: Callable[[str], None],
             env: Optional[dict[str, str]] = None, describe: Callable[[str], str] = lambda line: line) -> None:
    """Runs a long command into a log file and shows its last line as it goes; Failed with the log's tail."""
    log.parent.mkdir(parents=True, exist_ok=True)
    begin = shown = time.monotonic()
    terminal = sys.stdout.isatty()
    with open(log, "wb") as out:
        process = subprocess.Popen([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})
    try:
        while process.poll() is None:
            time.sleep(0.1)
            if time.monotonic() - shown >= (0.5 if terminal else EVERY):
                shown = time.monotonic()
                line = describe(_last_line(log))[:90]
                text = f"{what}, {shown - begin:.0f} s: {line}"
                if terminal:
                    print(f"\r{text}\033[K", end="", flush=True)
                else:
                    say(text)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        if terminal:
            print("\r\033[K", end="", flush=True)
    seconds = time.monotonic() - begin
    if process.returncode:
        text = log.read_text(errors="replace").splitlines()
        raise Failed("\n".join([f"{what} failed after {seconds:.0f} s; the end of {log}:", *text[-30:]]))
    if seconds >= 1:
        say(f"{what}: {seconds:.0f} s")


def _last_line(path: Path) -> str:
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - 400))
        lines = file.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "starting")


def configure(build: Path, options: list[str], say: Callable[[str], None]) -> None:
    """bootstrap and configure, each only where it has not been done with these options."""
    logs = build / "logs"
    build.mkdir(parents=True, exist_ok=True)
    script, source = SOURCE / "configure", SOURCE / "configure.ac"
    if not script.exists() or script.stat().st_mtime < source.stat().st_mtime:
        run_step("bootstrap", [SOURCE / "bootstrap"], logs / "bootstrap.log", SOURCE, say)
    makefile = build / "Makefile"
    stamp = build / "configured-with"
    command = [SOURCE / "configure", *options, *compilers()]
    if makefile.exists() and (not stamp.exists() or stamp.read_text() == " ".join(map(str, command))):
        return  # configured by hand, or by us with the same options
    slurm = slurm_source(build, say)
    if slurm:
        command.append(f"--with-slurm-src={slurm}")
    run_step("configure", command, logs / "configure.log", build, say)
    stamp.write_text(" ".join(map(str, command[:len(options) + 1 + len(compilers())])))


def slurm_source(build: Path, say: Callable[[str], None]) -> Optional[str]:
    """The configured Slurm source for the controller's plugins; None (and a line that says so) where it is not to be had."""
    log = build / "logs" / "slurm-source.log"
    try:
        run_step("Slurm's source", [SOURCE / "build-aux" / "slurm-source"], log, SOURCE, say)
    except Failed as error:
        say(f"no plugins for slurmctld: {error}")
        return None
    return log.read_text().splitlines()[-1]


def compilers() -> list[str]:
    """ccache in front of the compilers where it is installed."""
    return ["CC=ccache gcc", "CXX=ccache g++"] if shutil.which("ccache") else []


def make(build: Path, targets: list[str], say: Callable[[str], None], what: str = "make") -> None:
    """make with one job a core."""
    done = 0

    def count(line: str) -> str:
        nonlocal done
        done = sum(line.startswith("  ") for line in log.read_text(errors="replace").splitlines())
        return f"{done} steps, {line}"
    log = build / "logs" / f"{what.replace(' ', '-')}.log"
    # The flags of a make that called us must not leak in.
    run_step(what, ["make", f"-j{os.cpu_count()}", *targets], log, build, say, {"MAKEFLAGS": ""}, count)
