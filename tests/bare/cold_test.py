#!/usr/bin/env python3
"""tests/run --cold uses nothing that an earlier run left, and leaves nothing, however it ends.

It gets as far as Slurm's source, which here is made up: its configure writes down its environment.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
from archive import Archive, check, tarball, tests
from railcluster.process import Pid, wait_for
from railcluster.speed import slowness

STAGES = Path(__file__).resolve().parents[1] / "stages.py"


class Run:
    """One run of it in a folder of the test's own: TMPDIR, and the caches that it must not use."""

    def __init__(self, folder: str, configure: str):
        self.root = Path(folder)
        self.temporary = self.root / "tmp"
        self.temporary.mkdir()
        version = subprocess.run(["dpkg-query", "-W", "-f", "${source:Version}", "libslurm-dev"], capture_output=True, text=True,
                                 check=True).stdout
        self.kept = self.root / "cache" / "railyard" / f"slurm-{version}"
        self.kept.mkdir(parents=True)
        (self.kept / ".complete").touch()  # as if an earlier run had left it
        text = f"#!/bin/sh\nenv >{folder}/environment\npwd >>{folder}/environment\n{configure}\n"
        orig = {f"slurm-wlm_{version.rpartition('-')[0]}.orig.tar.gz": tarball({"slurm/configure": text})}
        files = {**orig, f"slurm-wlm_{version}.debian.tar.gz": tarball({"debian/patches/series": ""})}
        archive = Archive(self.root / "archive", "bookworm")
        archive.list_source("slurm-wlm", version, files, files)
        archive.write()
        (self.root / "apt.sources").write_text(archive.stanza("deb-src"))
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.kept.parents[1]), "TMPDIR": str(self.temporary),
                       "CCACHE_DIR": f"{folder}/ccache", "CCACHE_REMOTE_STORAGE": f"file:{folder}/ccache",
                       "RAILYARD_APT_SOURCES": f"{folder}/apt.sources"}
        self.process = subprocess.Popen([sys.executable, "-B", STAGES, "--cold"], env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def environment(self) -> dict[str, str]:
        lines = (self.root / "environment").read_text().splitlines()
        return {"PWD": lines[-1], **dict(line.split("=", 1) for line in lines[:-1] if "=" in line)}

    def ends(self, status: int) -> str:
        """It ends so, and of its folder and of what it started nothing is left."""
        out, _ = self.process.communicate(timeout=120 * slowness())
        check(self.process.returncode == status, "exit status", self.process.returncode, out)
        check(list(self.temporary.iterdir()) == [], *self.temporary.iterdir())
        check(sorted(path.name for path in self.kept.parent.iterdir()) == [self.kept.name], *self.kept.parent.iterdir())
        check(not (self.root / "ccache").exists(), "ccache's other cache was used")
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "environ").read_bytes()
            except OSError:
                continue
            check(str(self.temporary).encode() not in words, f"{entry} is left", (entry / "cmdline").read_text())
        return out


def test_its_own_caches(folder) -> None:
    """Slurm's source is fetched though there is one; ccache keeps to the run's folder. It ends with a failure, and cleanly."""
    run = Run(folder, "echo 'as the test wants'; exit 1")
    out = run.ends(1)
    check(out.splitlines()[-1] == "0 passed, 1 failed" and "as the test wants" in out, out)
    environment = run.environment()
    for name in ("XDG_CACHE_HOME", "CCACHE_DIR", "CCACHE_CONFIGPATH", "TMPDIR", "PWD"):
        check(environment[name].startswith(f"{run.temporary}/railyard-cold-"), name, environment[name])
    check("CCACHE_REMOTE_STORAGE" not in environment, environment)


def test_interrupted(folder) -> None:
    """Ctrl-C, which goes to all of them, and SIGTERM, which goes to one."""
    for name, number, status in (("c", signal.SIGINT, 130), ("term", signal.SIGTERM, 143)):
        own = Path(folder) / name
        own.mkdir()
        run = Run(str(own), "sleep 300")
        wait_for((own / "environment").exists, 60, "it to come to Slurm's source", every=0.05, needs=Pid.of(run.process.pid))
        if number == signal.SIGINT:
            os.killpg(run.process.pid, number)
        else:
            os.kill(run.process.pid, number)
        run.ends(status)


if subprocess.run("dpkg-query -W libslurm-dev && command -v git && test -x /usr/lib/apt/apt-helper", shell=True,
                  capture_output=True, check=False).returncode:
    print("this is no Debian with libslurm-dev, or git is not installed")
    sys.exit(77)
sys.exit(tests(globals()))
