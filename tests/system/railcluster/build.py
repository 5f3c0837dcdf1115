"""Builds Railyard as quickstart and tests/run do: out of tree, with regular progress output."""

import contextlib
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Optional, Sequence

SOURCE = Path(__file__).resolve().parents[3]
EVERY = 8.0  # seconds between two lines of progress without a terminal
RECORD = "configured.json"  # in a build directory: the arguments of configure
SANITIZED = ["--enable-werror", "--enable-unity", "--enable-sanitizer=address,undefined"]  # for the build directory -asan
FIRST = "--with-slurm-src="
NEWER = ("25.05", "25.11", "26.05")  # releases whose source only its owner has: configure --with-more-slurm-src
POINTLESS = ("there are no plugins for slurmctld, and what jobs ask for (--rail-span, --restart=auto) would be honoured by "
             "nobody")


class Failed(Exception):
    """A step of the build failed; the text ends with the end of its output."""


class Step:
    """A running long command with its output in a log file."""

    def __init__(self, what: str, command: list, log: Path, cwd: Path, env: Optional[dict[str, str]] = None,
                 describe: Callable[[str], str] = lambda line: line):
        self.what, self.log, self.cwd, self.describe = what, log, cwd, describe
        log.parent.mkdir(parents=True, exist_ok=True)
        self.begin = time.monotonic()
        with open(log, "wb") as out:
            self.process = subprocess.Popen([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}, start_new_session=True)

    def wait(self, say: Callable[[str], None]) -> None:
        """Shows the log's last line as it grows; raises Failed with the log's tail."""
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
        """Ends it, if it still runs, with all its descendants."""
        if self.process.poll() is not None:
            return
        asked = time.time()
        deadline = time.monotonic() + 10
        number = signal.SIGTERM
        try:
            while True:
                os.killpg(self.process.pid, number)
                self.process.poll()
                time.sleep(0.05)
                number = 0 if time.monotonic() < deadline else signal.SIGKILL
        except ProcessLookupError:
            self.process.wait()
        # make removes unfinished targets, but an assembler that the compiler had just started may create its file after that:
        # empty or partial, and permanently newer than its source. Output of libtool is recognized by its .lo.
        for name in self.cwd.rglob("*.o"):
            with contextlib.suppress(FileNotFoundError):  # of another build
                if name.stat().st_mtime >= asked - 1:
                    (name.parent.parent if name.parent.name == ".libs" else name.parent).joinpath(name.stem + ".lo").unlink(missing_ok=True)
                    name.unlink()


def run_step(what: str, command: list, log: Path, cwd: Path, say: Callable[[str], None],
             env: Optional[dict[str, str]] = None) -> None:
    Step(what, command, log, cwd, env).wait(say)


def _last_line(path: Path) -> str:
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - 400))
        lines = file.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "starting")


def _read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


class Configured:
    """How a build directory is configured, by us or manually."""

    def __init__(self, build: Path):
        self._status = _read(build / "config.status")
        self._record = json.loads(_read(build / RECORD) or "{}")
        before = self._record or json.loads(_read(build / f"{RECORD}.new") or "{}")
        # One of ours that was killed during configuration has the other of the two files.
        self.by_hand = (build / "Makefile").exists() and not any((build / name).exists() for name in (RECORD, f"{RECORD}.new"))
        self.command: list[str] = self._record.get("command", [])
        # Of existing objects, also if the configuration was interrupted.
        self.tools: list[str] = before.get("tools", [])
        self.source = [word for word in before.get("command", []) if word.startswith(FIRST)]

    def has(self, conditional: str) -> bool:
        """Whether an automake conditional is true."""
        return f'S["{conditional}_TRUE"]=""' in self._status

    def why_not(self, option: str) -> str:
        """Why an option that brings a Slurm source is missing."""
        found = self._record.get("missing", {}).get(option)
        return found or f"the build is configured without {option}"


class Configuring:
    """A running configure in a build directory; wait() finishes it, and records its arguments."""

    def __init__(self, build: Path, command: list[str], have: Configured, tools: list[str], missing: dict[str, str], what: str):
        self.build, self.command, self.have, self.tools, self.missing = build, command, have, tools, missing
        self.begun = build / f"{RECORD}.new"
        # While configure runs, the directory must not look configured.
        (build / RECORD).rename(self.begun) if (build / RECORD).exists() else self.begun.touch()
        self.step = Step(what, command, build / "logs" / "configure.log", build)

    def wait(self, say: Callable[[str], None]) -> None:
        self.step.wait(say)
        if self.have.tools and (self.have.tools != self.tools or self.have.source != [word for word in self.command if word.startswith(FIRST)]):
            # Headers of another release may be older than the objects: make would not notice the difference.
            run_step("make clean", ["make", "clean"], self.build / "logs" / "clean.log", self.build, say, {"MAKEFLAGS": ""})
        self.begun.write_text(json.dumps({"command": self.command, "tools": self.tools, "missing": self.missing}, indent=1) + "\n")
        self.begun.rename(self.build / RECORD)

    def stop(self) -> None:
        self.step.stop()


def configure(build: Path, options: list[str], say: Callable[[str], None], releases: Sequence[str] = ("",),
              more: Sequence[str] = (), using: Sequence[str] = ()) -> None:
    """Runs start_configure() to its end."""
    configuring = start_configure(build, options, say, releases, more, using)
    if configuring:
        configuring.wait(say)


def start_configure(build: Path, options: list[str], say: Callable[[str], None], releases: Sequence[str] = ("",),
                    more: Sequence[str] = (), using: Sequence[str] = (), what: str = "configure") -> Optional[Configuring]:
    """Runs bootstrap and configure, each only if not yet done with these options, sources and compilers.

    releases are the Debians for whose Slurm plugins are built: "" is this machine's, and at most one more. Without the first it
    raises Failed. The result for the second is in Configured.why_not(). A directory that was configured manually is left
    unchanged, and must have the first as well. more: the result of more_sources(). using: the compilers, as from compilers(); the
    usual ones if empty. Returns None if there is nothing to do.
    """
    using = using or compilers()
    logs = build / "logs"
    build.mkdir(parents=True, exist_ok=True)
    have = Configured(build)
    if have.by_hand:
        if releases and not have.has("SLURM_SRC"):
            raise Failed(f"{build} was configured by hand without --with-slurm-src, {POINTLESS}: configure it again with "
                         "--with-slurm-src=\"$(build-aux/slurm-source)\", or remove it")
        return None
    bootstrap = None if _bootstrapped() else Step("bootstrap", [SOURCE / "bootstrap"], logs / "bootstrap.log", SOURCE)
    try:
        found, missing = slurm_sources(build, say, releases)
        if bootstrap:
            bootstrap.wait(say)
    finally:
        if bootstrap:
            bootstrap.stop()
    command = [str(word) for word in (SOURCE / "configure", *options, *from_nothing(using), *using, *found, *more)]
    tools = [_version(word.split("=", 1)[1]) for word in using]
    if (build / "Makefile").exists() and have.tools == tools and _covers(have.command, command):
        return None
    return Configuring(build, command, have, tools, missing, what)


def _bootstrapped() -> bool:
    """Makefile.in is created last."""
    made, source = [SOURCE / "configure", SOURCE / "Makefile.in"], SOURCE / "configure.ac"
    return all(path.exists() and path.stat().st_mtime >= source.stat().st_mtime for path in made)


def _covers(have: list[str], wanted: list[str]) -> bool:
    """Whether it has the wanted configuration, possibly with more releases whose sources still exist."""
    more = [source for word in have[len(wanted):] for source in word.partition("=")[2].split(":")]
    return have[:len(wanted)] == wanted and all(Path(source).is_dir() for source in more)


def _version(compiler: str) -> str:
    """The first line of a compiler's version; empty if it cannot be run, which configure reports better."""
    try:
        told = subprocess.run([*compiler.split(), "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False).stdout
    except OSError:
        return ""
    return told.partition("\n")[0]


def slurm_sources(build: Path, say: Callable[[str], None], releases: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """configure's options for the Slurm sources that the controller's plugins need, fetched in parallel.

    Also returns the missing options, each with its reason; raises Failed if this machine's own source is missing.
    """
    steps = [Step(f"Slurm's source{' of ' + release if release else ''}",
                  [SOURCE / "build-aux" / "slurm-source", *filter(None, [release])],
                  build / "logs" / f"slurm-source{release and '-' + release}.log", SOURCE) for release in releases]
    options, missing = [], {}
    try:
        for option, release, step in zip(("--with-slurm-src", "--with-second-slurm-src"), releases, steps):
            try:
                step.wait(say)
                options.append(f"{option}={step.log.read_text().splitlines()[-1]}")
            except Failed as error:
                reason = str(error).splitlines()[-1]
                if not release:
                    raise Failed(f"{error}\nWithout the source of this machine's Slurm {POINTLESS}. Once it can be had, run this "
                                 "again; or configure by hand with a source of the same version that you have: mkdir -p "
                                 f"{build} && cd {build} && {SOURCE}/configure --with-slurm-src=DIR") from None
                missing[option] = reason
                say(f"no plugins for Debian {release}'s Slurm: {reason}")
    finally:
        for step in steps:
            step.stop()
    return options, missing


def more_sources(say: Callable[[str], None]) -> list[str]:
    """configure's option for the newer Slurms whose configured sources are available; reports the missing ones.

    RAILYARD_SLURM_SOURCES=DIR:DIR names them; otherwise those in the cache, slurm-25.11.7 and so on, that are complete.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "railyard"
    given = os.environ.get("RAILYARD_SLURM_SOURCES")
    folders = [Path(word) for word in given.split(":")] if given else sorted(cache.glob("slurm-[0-9]*"))
    found = {}
    for folder in folders:
        text = _read(folder / "build" / "config.h") or _read(folder / "config.h")
        release = re.search(r'^#define SLURM_VERSION_STRING "((\d+\.\d+)\.[^"]*)"', text, re.MULTILINE)
        if release and release[2] in NEWER:
            found[release[2]] = folder
        elif given:
            raise Failed(f"RAILYARD_SLURM_SOURCES: {folder} is no configured source of Slurm {', '.join(NEWER)}")
    for release in NEWER:
        if release not in found:
            say(f"no plugins for Slurm {release}: no configured source of it in {cache}, nor in RAILYARD_SLURM_SOURCES")
    return [f"--with-more-slurm-src={':'.join(str(folder) for folder in found.values())}"] if found else []


def compilers(usual: Sequence[str] = ("gcc", "g++")) -> list[str]:
    """The compilers in CC and CXX, otherwise the usual ones; with ccache if it is installed."""
    front = "ccache " if shutil.which("ccache") else ""
    chosen = {name: os.environ.get(name) or word for name, word in zip(("CC", "CXX"), usual)}
    return [f"{name}={'' if word.startswith('ccache') else front}{word}" for name, word in chosen.items()]


@functools.cache
def _packages_of_headers() -> Optional[bytes]:
    """The installed ones, with their versions; None if dpkg does not know."""
    try:
        return subprocess.run(["dpkg-query", "-W", "*-dev"], stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def remembering(build: Path) -> dict[str, str]:
    """ccache's settings for make: objects are found in any copy of the tree, by the list of headers that the compiler writes,
    without running the preprocessor. That list does not include headers in precompiled headers: their packages are listed in a
    file that counts for every object."""
    installed, packages = build / "installed-headers", _packages_of_headers()
    if packages is None:
        return {}
    if not installed.exists() or installed.read_bytes() != packages:
        installed.write_bytes(packages)
    return {"CCACHE_BASEDIR": str(SOURCE), "CCACHE_NOHASHDIR": "1", "CCACHE_DEPEND": "1", "CCACHE_EXTRAFILES": str(installed),
            "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime"}


def sanitizing_compilers() -> list[str]:
    """compilers(), with clang as the default if installed: it compiles for sanitizers in half of gcc's time."""
    return compilers(("clang", "clang++")) if shutil.which("clang++") else compilers()


def from_nothing(using: Sequence[str]) -> list[str]:
    """Options for a faster first build, if the compilers are known to support them."""
    command = using[1].partition("=")[2].split()
    compiler = next((Path(word).name for word in command if Path(word).name != "ccache"), "")
    return ["--enable-precompiled", "--enable-unity"] if re.fullmatch(r"(clan)?g\+\+(-\d+)?", compiler) else []


def listed(build: Path, variable: str) -> list[str]:
    """The words of a variable of the Makefile, which is regenerated first if its sources have changed: that prints."""
    subprocess.run(["make", "-s", "Makefile"], cwd=build, capture_output=True, check=False, env={**os.environ, "MAKEFLAGS": ""})
    told = subprocess.run(["make", "-s", "-f", "-", "list"], cwd=build, text=True, capture_output=True, check=True,
                          input=f"include Makefile\nlist:\n\t@echo $({variable})\n", env={**os.environ, "MAKEFLAGS": ""})
    return told.stdout.split()


def make(build: Path, targets: list[str], say: Callable[[str], None], what: str = "make") -> None:
    """Runs make with one job per core."""
    start_make(build, targets, what).wait(say)


def left_of(scripts: list[str], log: Path, line: str) -> str:
    """The progress of make check: its last line until there is a result, then the tests without a result."""
    told = {line.split(": ", 1)[1] for line in log.read_text(errors="replace").splitlines()
            if line.split(": ", 1)[0] in ("PASS", "FAIL", "SKIP", "XFAIL", "ERROR")}
    left = [os.path.basename(name) for name in scripts if name not in told]
    return f"{len(scripts) - len(left)} of {len(scripts)}, left: {' '.join(left)}" if told else line


def start_make(build: Path, targets: list[str], what: str, wrapper: Sequence[str] = ()) -> Step:
    """Starts make; `wrapper` is a command that starts it, such as nice."""
    log = build / "logs" / f"{what.replace(' ', '-')}.log"

    def count(line: str) -> str:
        done = sum(line.startswith("  ") for line in log.read_text(errors="replace").splitlines())
        return f"{done} steps, {line}"
    # Do not inherit the flags of a make that called us.
    return Step(what, [*wrapper, "make", f"-j{os.cpu_count()}", *targets], log, build, {"MAKEFLAGS": "", **remembering(build)}, count)
