"""Building Railyard the way quickstart and tests/run do: out of tree, with progress, never silent for long."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Optional, Sequence

SOURCE = Path(__file__).resolve().parents[3]
EVERY = 8.0  # seconds between two lines of progress where there is no terminal


class Failed(Exception):
    """A step of the build failed; the text ends with the last of its output."""


class Step:
    """A long command, running, with its output in a log file."""

    def __init__(self, what: str, command: list, log: Path, cwd: Path, env: Optional[dict[str, str]] = None,
                 describe: Callable[[str], str] = lambda line: line):
        self.what, self.log, self.describe = what, log, describe
        log.parent.mkdir(parents=True, exist_ok=True)
        self.begin = time.monotonic()
        with open(log, "wb") as out:
            self.process = subprocess.Popen([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})

    def wait(self, say: Callable[[str], None]) -> None:
        """Shows the log's last line as it goes; Failed with the log's tail."""
        shown = time.monotonic()
        terminal = sys.stdout.isatty()
        try:
            while self.process.poll() is None:
                time.sleep(0.1)
                if time.monotonic() - shown >= (0.5 if terminal else EVERY):
                    shown = time.monotonic()
                    text = f"{self.what}, {shown - self.begin:.0f} s: {self.describe(_last_line(self.log))[:90]}"
                    if terminal:
                        print(f"\r{text}\033[K", end="", flush=True)
                    else:
                        say(text)
        except BaseException:
            self.stop()
            raise
        finally:
            if terminal:
                print("\r\033[K", end="", flush=True)
        seconds = time.monotonic() - self.begin
        if self.process.returncode:
            text = self.log.read_text(errors="replace").splitlines()
            raise Failed("\n".join([f"{self.what} failed after {seconds:.0f} s; the end of {self.log}:", *text[-30:]]))
        if seconds >= 1:
            say(f"{self.what}: {seconds:.0f} s")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def run_step(what: str, command: list, log: Path, cwd: Path, say: Callable[[str], None],
             env: Optional[dict[str, str]] = None) -> None:
    Step(what, command, log, cwd, env).wait(say)


def _last_line(path: Path) -> str:
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - 400))
        lines = file.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "starting")


def configure(build: Path, options: list[str], say: Callable[[str], None], releases: Sequence[str] = ("",)) -> None:
    """bootstrap and configure, each only where it has not been done with these options.

    releases are the Debians for whose Slurm plugins are built: "" is this machine's, and at most one more.
    """
    logs = build / "logs"
    build.mkdir(parents=True, exist_ok=True)
    script, source = SOURCE / "configure", SOURCE / "configure.ac"
    if not script.exists() or script.stat().st_mtime < source.stat().st_mtime:
        run_step("bootstrap", [SOURCE / "bootstrap"], logs / "bootstrap.log", SOURCE, say)
    makefile = build / "Makefile"
    stamp = build / "configured-with"
    command = [SOURCE / "configure", *options, *compilers()]
    wanted = " ".join(map(str, [*command, *filter(None, releases)]))
    if makefile.exists() and (not stamp.exists() or f"{stamp.read_text()} ".startswith(f"{wanted} ")):
        return  # configured by hand, or by us with the same options and maybe one release more
    run_step("configure", [*command, *slurm_sources(build, say, releases)], logs / "configure.log", build, say)
    stamp.write_text(wanted)


def slurm_sources(build: Path, say: Callable[[str], None], releases: Sequence[str]) -> list[str]:
    """configure's options for the Slurm sources the controller's plugins need, fetched side by side.

    Where one is not to be had its option is missing, and a line says so.
    """
    steps = [Step(f"Slurm's source{' of ' + release if release else ''}",
                  [SOURCE / "build-aux" / "slurm-source", *filter(None, [release])],
                  build / "logs" / f"slurm-source{release and '-' + release}.log", SOURCE) for release in releases]
    options = []
    for option, step in zip(("--with-slurm-src", "--with-second-slurm-src"), steps):
        try:
            step.wait(say)
            options.append(f"{option}={step.log.read_text().splitlines()[-1]}")
        except Failed as error:
            say(f"no plugins for slurmctld: {error}")
    return options


def compilers() -> list[str]:
    """ccache in front of the compilers where it is installed."""
    return ["CC=ccache gcc", "CXX=ccache g++"] if shutil.which("ccache") else []


def make(build: Path, targets: list[str], say: Callable[[str], None], what: str = "make") -> None:
    """make with one job a core."""
    start_make(build, targets, what).wait(say)


def start_make(build: Path, targets: list[str], what: str, wrapper: Sequence[str] = ()) -> Step:
    """make under way; `wrapper` is a command that starts it, such as nice."""
    log = build / "logs" / f"{what.replace(' ', '-')}.log"

    def count(line: str) -> str:
        done = sum(line.startswith("  ") for line in log.read_text(errors="replace").splitlines())
        return f"{done} steps, {line}"
    # The flags of a make that called us must not leak in.
    return Step(what, [*wrapper, "make", f"-j{os.cpu_count()}", *targets], log, build, {"MAKEFLAGS": ""}, count)
